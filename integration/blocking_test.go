package integration

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// By whomever an element comes, and through whatever: who waits for it has it, once, and in turn.
func TestWhoWaitsForAnElementGetsIt(t *testing.T) {
	t.Parallel()
	masters, proxies := twoProxies(t, 3)
	c, looker, other := dial(t, proxies[0].Addr), dial(t, proxies[0].Addr), dial(t, proxies[1].Addr)
	ways := map[string]string{
		"BLPOP %s 0": "[%s v]", "BRPOP nosuch %s 30": "[%s v]", "BLMPOP 0 2 nosuch %s LEFT COUNT 5": "[%s [v]]", "BLMOVE %s to LEFT RIGHT 0": "v",
		"BRPOPLPUSH %s to 0": "v",
	}
	rounds := 0
	for name, push := range map[string]func(q, from string){
		"the same proxy": func(q, _ string) { looker.want(int64(1), "RPUSH", q, "v") },
		"another proxy":  func(q, _ string) { other.want(int64(1), "RPUSH", q, "v") },
		"a script":       func(q, _ string) { other.want(int64(1), "EVAL", "return redis.call('rpush', KEYS[1], 'v')", "1", q) },
		"a transaction": func(q, _ string) {
			other.want("OK", "MULTI")
			other.want("QUEUED", "SET", "a", "1")
			other.want("QUEUED", "RPUSH", q, "v")
			other.want([]any{"OK", int64(1)}, "EXEC")
		},
		"a move": func(q, from string) {
			other.want(int64(1), "LPUSH", from, "v")
			other.want("v", "LMOVE", from, q, "LEFT", "LEFT")
		},
		"a rename": func(q, from string) { other.want(int64(1), "LPUSH", from, "v"); other.want("OK", "RENAME", from, q) },
		"the masters": func(q, _ string) {
			for _, m := range masters {
				ask(t, m, "RPUSH", q, "v")
			}
		},
	} {
		for way, want := range ways {
			// Each time it is another key: where two proxies meet, a busy master may yet have what was there the last time.
			rounds++
			q, from := fmt.Sprintf("q%d", rounds), fmt.Sprintf("from%d", rounds)
			answer := c.asking(strings.Fields(fmt.Sprintf(way, q))...)
			waiting(t, looker, 1)
			began := time.Now()
			push(q, from)
			got := <-answer
			t.Logf("%s, by %s: after %v", way, name, time.Since(began))
			if fmt.Sprint(got) != strings.ReplaceAll(want, "%s", q) {
				t.Fatalf("%s, by %s: got %v, want %s", way, name, got, want)
			}
			looker.want(int64(0), "EXISTS", q)
		}
	}
	for way, want := range map[string]string{
		"BZPOPMIN %s 0": "[%s a 1]", "BZPOPMAX nosuch %s 30": "[%s b 2]", "BZMPOP 0 2 nosuch %s MAX COUNT 5": "[%s [[b 2] [a 1]]]",
	} {
		for name, by := range map[string]talk{"the same proxy": looker, "another proxy": other} {
			rounds++
			z := fmt.Sprintf("z%d", rounds)
			answer := c.asking(strings.Fields(fmt.Sprintf(way, z))...)
			waiting(t, looker, 1)
			by.want(int64(2), "ZADD", z, "2", "b", "1", "a")
			if got := fmt.Sprint(<-answer); got != strings.ReplaceAll(want, "%s", z) {
				t.Errorf("%s, by %s: got %s", way, name, got)
			}
		}
	}

	// What the key is meanwhile is nothing to who waits already, and an error to who asks then.
	answer := c.asking("BLPOP", "q", "0")
	waiting(t, looker, 1)
	other.want("OK", "SET", "q", "no list")
	looker.want("OK", "SET", "q", "nor that")
	looker.want(Failure("WRONGTYPE Operation against a key holding the wrong kind of value"), "BRPOP", "nosuch", "q", "0")
	looker.want("OK", "MULTI")
	looker.want("QUEUED", "DEL", "q")
	looker.want("QUEUED", "SETNX", "q", "a string again")
	looker.want("QUEUED", "BLMPOP", "0", "1", "nosuch", "LEFT")
	looker.want([]any{int64(1), int64(1), nil}, "EXEC")
	waiting(t, looker, 1)
	mover := dial(t, proxies[0].Addr).asking("BLMOVE", "q2", "to2", "LEFT", "RIGHT", "0")
	waiting(t, looker, 2)
	looker.want(int64(1), "HSET", "q2", "field", "v")
	waiting(t, looker, 2)
	looker.want(int64(2), "DEL", "q", "q2")
	other.want(int64(1), "RPUSH", "q", "v")
	other.want(int64(1), "RPUSH", "q2", "v2")
	if got, moved := fmt.Sprint(<-answer), <-mover; got != "[q v]" || moved != "v2" {
		t.Errorf("BLPOP: %v, BLMOVE: %v", got, moved)
	}
}

// Two proxies, a master that fails, and clients that go away as they wait: each element comes to one client, and none is
// lost but those of which a client was told that nobody knows.
func TestEachElementIsGivenToOneWhoWaits(t *testing.T) {
	for name, fault := range map[string]struct {
		masters int
		strike  func(m *Redis) error
	}{
		"a master is killed":           {3, func(m *Redis) error { return m.Kill() }},
		"two of five are killed":       {5, func(m *Redis) error { return m.Kill() }},
		"a master freezes":             {3, func(m *Redis) error { time.AfterFunc(time.Second, func() { m.Thaw() }); return m.Freeze() }},
		"a master is restarted, blank": {3, func(m *Redis) error { return errors.Join(m.Kill(), m.Restart()) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			masters, proxies := twoProxies(t, fault.masters)
			q := &queue{t: t, proxies: proxies, sure: make(map[string]bool), over: make(chan struct{})}
			for i := range 8 {
				q.taking.Go(func() { q.consume(proxies[i%2].Addr) })
			}
			q.produce(func() {
				for _, m := range masters[fault.masters/2+1:] {
					must(t, fault.strike(m))
				}
			})
			q.wantEachOnce()
		})
	}
}

// queue is a list of jobs, those who fill it and those who wait for it.
type queue struct {
	t       *testing.T
	proxies []*Proxy
	taking  sync.WaitGroup
	over    chan struct{}

	mu      sync.Mutex // guards what follows
	given   []string
	unknown int             // answers of which nobody knows what was popped
	sure    map[string]bool // jobs that were pushed for certain
}

// note takes in an answer to BLPOP.
func (q *queue) note(reply any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if list, _ := reply.([]any); len(list) == 2 {
		q.given = append(q.given, list[1].(string))
		delete(q.sure, list[1].(string))
	} else if _, failed := reply.(Failure); failed {
		q.unknown++
	}
}

// consume takes jobs, and goes away each time when it has asked for some.
func (q *queue) consume(addr string) {
	for {
		c, err := Dial(addr)
		if err != nil {
			q.t.Error(err)
			return
		}
		for range 10 {
			reply, err := c.Do("BLPOP", "jobs", "0.5")
			if err != nil {
				q.t.Error(err)
			}
			q.note(reply)
			select {
			case <-q.over:
				c.Close()
				return
			default:
			}
		}
		// As it waits, or as it is served: what was sent to it by then is its own.
		c.Send("BLPOP", "jobs", "0")
		c.Conn.(*net.TCPConn).CloseWrite()
		reply, _ := c.Receive()
		q.note(reply)
		c.Close()
	}
}

// produce fills the queue through both proxies, while something strikes.
func (q *queue) produce(strike func()) {
	const producers, each = 4, 60
	var making sync.WaitGroup
	for i := range producers {
		c := dial(q.t, q.proxies[i%2].Addr)
		making.Go(func() {
			for n := range each {
				job := fmt.Sprint(i, "-", n)
				q.mu.Lock()
				q.sure[job] = true
				q.mu.Unlock()
				if _, failed := c.do("RPUSH", "jobs", job).(Failure); failed {
					q.mu.Lock()
					delete(q.sure, job) // it may come, and may not
					q.mu.Unlock()
				}
				if i == 0 && n == each/2 {
					strike()
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	making.Wait()
}

// wantEachOnce waits until no more is missing than answers have told of, and ends those who wait.
func (q *queue) wantEachOnce() {
	q.t.Helper()
	eventually(q.t, func() error {
		q.mu.Lock()
		defer q.mu.Unlock()
		if len(q.sure) > q.unknown {
			return fmt.Errorf("%d elements have come to nobody, and %d answers told that nobody knows: %v", len(q.sure), q.unknown, q.sure)
		}
		return nil
	})
	close(q.over)
	q.taking.Wait()
	slices.Sort(q.given)
	for i, job := range q.given {
		if i > 0 && q.given[i-1] == job {
			q.t.Errorf("%s was given twice", job)
		}
	}
	q.t.Logf("%d elements were given, and %d answers were NOQUORUM", len(q.given), q.unknown)
}

// What a client sends behind its blocked command waits for that; if it hangs up, nobody is served for it.
func TestWhoHangsUpBehindABlockedCommandIsGone(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	looker, other := dial(t, p.Addr), dial(t, p.Addr)
	gone, err := Dial(p.Addr)
	must(t, err)
	must(t, gone.Send("BLPOP", "q", "0"))
	waiting(t, looker, 1)
	must(t, gone.Send("SET", "behind", "1"))
	answer := other.asking("BLPOP", "q", "0")
	waiting(t, looker, 2)
	looker.want(nil, "GET", "behind")
	must(t, gone.Close())
	looker.want(int64(1), "RPUSH", "q", "v") // before it has been looked who is there yet
	if got := fmt.Sprint(<-answer); got != "[q v]" {
		t.Errorf("got %v", got)
	}
	looker.want(nil, "GET", "behind")

	killed := other.asking("BRPOP", "q", "0")
	waiting(t, looker, 1)
	id := looker.text("CLIENT", "LIST")
	for line := range strings.Lines(id) {
		if strings.Contains(line, "cmd=brpop") {
			looker.want(int64(1), "CLIENT", "UNBLOCK", strings.TrimPrefix(strings.Fields(line)[0], "id="))
		}
	}
	if got := <-killed; got != nil {
		t.Errorf("who was unblocked is told %v", got)
	}
}
