package integration

import (
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
		"BLPOP q 0": "[q v]", "BRPOP nosuch q 30": "[q v]", "BLMPOP 0 2 nosuch q LEFT COUNT 5": "[q [v]]", "BLMOVE q to LEFT RIGHT 0": "v",
	}
	for name, push := range map[string]func(){
		"the same proxy": func() { looker.want(int64(1), "RPUSH", "q", "v") },
		"another proxy":  func() { other.want(int64(1), "RPUSH", "q", "v") },
		"a script":       func() { other.want(int64(1), "EVAL", "return redis.call('rpush', KEYS[1], 'v')", "1", "q") },
		"a transaction": func() {
			other.want("OK", "MULTI")
			other.want("QUEUED", "SET", "a", "1")
			other.want("QUEUED", "RPUSH", "q", "v")
			other.want([]any{"OK", int64(1)}, "EXEC")
		},
		"a move": func() {
			other.want(int64(1), "LPUSH", "from", "v")
			other.want("v", "LMOVE", "from", "q", "LEFT", "LEFT")
		},
		"a rename": func() { other.want(int64(1), "LPUSH", "from", "v"); other.want("OK", "RENAME", "from", "q") },
		"the masters": func() {
			for _, m := range masters {
				ask(t, m, "RPUSH", "q", "v")
			}
		},
	} {
		for way := range ways {
			answer := c.asking(strings.Fields(way)...)
			waiting(t, looker, 1)
			began := time.Now()
			push()
			got := <-answer
			t.Logf("%s, by %s: after %v", way, name, time.Since(began))
			if want := ways[way]; fmt.Sprint(got) != want {
				t.Fatalf("%s, by %s: got %v, want %s", way, name, got, want)
			}
			looker.want(int64(0), "EXISTS", "q")
			looker.do("DEL", "to")
		}
	}
	answer := c.asking("BZPOPMIN", "z", "0")
	waiting(t, looker, 1)
	other.want(int64(2), "ZADD", "z", "2", "b", "1", "a")
	if got := fmt.Sprint(<-answer); got != "[z a 1]" {
		t.Errorf("BZPOPMIN: %v", got)
	}
}

// Two proxies, a master that is killed, and clients that go away as they wait: each element comes to one client, and none
// is lost but those of which a client was told that nobody knows.
func TestEachElementIsGivenToOneWhoWaits(t *testing.T) {
	t.Parallel()
	masters, proxies := twoProxies(t, 3)
	const producers, each, consumers = 4, 60, 8
	var mu sync.Mutex // guards what follows
	var given []string
	unknown := 0 // answers of which nobody knows what was popped
	pushed := make(map[string]bool)
	var making, taking sync.WaitGroup
	over := make(chan struct{})
	for i := range consumers {
		addr := proxies[i%2].Addr
		taking.Go(func() {
			for {
				c, err := Dial(addr)
				if err != nil {
					t.Error(err)
					return
				}
				for range 10 {
					reply, err := c.Do("BLPOP", "jobs", "0.5")
					list, _ := reply.([]any)
					_, failed := reply.(Failure)
					mu.Lock()
					switch {
					case err != nil:
						t.Error(err)
					case failed:
						unknown++
					case len(list) == 2:
						given = append(given, list[1].(string))
					}
					mu.Unlock()
					select {
					case <-over:
						c.Close()
						return
					default:
					}
				}
				// He goes away as he waits, or as he is served: what was sent to him by then is his.
				c.Send("BLPOP", "jobs", "0")
				c.Conn.(*net.TCPConn).CloseWrite()
				reply, _ := c.Receive()
				mu.Lock()
				if list, _ := reply.([]any); len(list) == 2 {
					given = append(given, list[1].(string))
				} else if _, failed := reply.(Failure); failed {
					unknown++
				}
				mu.Unlock()
				c.Close()
			}
		})
	}
	for i := range producers {
		c := dial(t, proxies[i%2].Addr)
		making.Go(func() {
			for n := range each {
				job := fmt.Sprint(i, "-", n)
				reply := c.do("RPUSH", "jobs", job)
				mu.Lock()
				_, failed := reply.(Failure)
				pushed[job] = !failed
				mu.Unlock()
				if i == 0 && n == each/2 {
					must(t, masters[2].Kill())
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	making.Wait()
	eventually(t, func() error {
		mu.Lock()
		defer mu.Unlock()
		if n := len(given); n+unknown < producers*each {
			return fmt.Errorf("%d of %d elements are given, and %d answers tell that nobody knows", n, producers*each, unknown)
		}
		return nil
	})
	close(over)
	taking.Wait()
	slices.Sort(given)
	for i, job := range given {
		if i > 0 && given[i-1] == job {
			t.Errorf("%s was given twice", job)
		}
		delete(pushed, job)
	}
	lost := 0
	for _, sure := range pushed {
		if sure {
			lost++
		}
	}
	if lost > unknown {
		t.Errorf("%d elements came to nobody, and %d answers told that nobody knows: %v", lost, unknown, pushed)
	}
	t.Logf("%d elements given, %d answers NOQUORUM", len(given), unknown)
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
	waiting(t, looker, 1)
	looker.want(int64(1), "RPUSH", "q", "v")
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
