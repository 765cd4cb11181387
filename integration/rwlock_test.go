package integration

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// readWriter is a thread that locks as one of Redisson 4.7 does by a RReadWriteLock. Of each hold of
// a read lock there is a key that the scripts compute, and which has the tag of the lock's name.
type readWriter struct {
	do       func(args ...string) any
	t        *testing.T
	key, who string
	lease    time.Duration
	requests int
}

func (r *readWriter) timeouts() string { return "{" + r.key + "}:" + r.who + ":rwlock_timeout" }
func (r *readWriter) channel() string  { return "redisson_rwlock:{" + r.key + "}" }

func (r *readWriter) latch() string {
	r.requests++
	return fmt.Sprintf("redisson_unlock_latch:{%s}:%s-%d", r.key, r.who, r.requests)
}

func (r *readWriter) eval(script string, keys, args []string) any {
	return r.do(call(corpus(r.t, script), keys, args)...)
}

func (r *readWriter) read() any {
	return r.eval("redisson-readTryLock", k(r.key, r.timeouts()), k(milliseconds(r.lease), r.who, r.who+":write"))
}

func (r *readWriter) unread() any {
	return r.eval("redisson-readUnlock", k(r.key, r.channel(), r.timeouts(), "{"+r.key+"}", r.latch()), k("0", r.who, "publish", "13500"))
}

func (r *readWriter) write() any {
	return r.eval("redisson-writeTryLock", k(r.key), k(milliseconds(r.lease), r.who+":write"))
}

func (r *readWriter) unwrite() any {
	return r.eval("redisson-writeUnlock", k(r.key, r.channel(), r.latch()), k("0", milliseconds(r.lease), r.who+":write", "publish", "13500"))
}

// renew is what the watchdog says for a read lock.
func (r *readWriter) renew() any {
	return r.eval("redisson-readRenew", k(r.key, "{"+r.key+"}"), k(milliseconds(r.lease), "1", r.who))
}

// does has one of them do something, by its name.
func (r *readWriter) does(what string) any {
	return map[string]func() any{"read": r.read, "unread": r.unread, "write": r.write, "unwrite": r.unwrite, "renew": r.renew}[what]()
}

// readWritten are steps of a, b and w, and what each is told: "left" is what is left of a ttl.
var readWritten = []struct {
	who, what string
	want      any
}{
	{"a", "read", nil}, {"b", "read", nil}, {"w", "write", "left"}, {"a", "read", nil}, {"a", "renew", []any{int64(1)}},
	{"a", "unread", int64(0)}, {"a", "unread", int64(0)}, {"a", "unread", nil}, {"w", "write", "left"}, {"a", "renew", []any{int64(0)}},
	{"b", "unread", int64(1)}, {"w", "write", nil}, {"a", "read", "left"}, {"w", "write", nil}, {"w", "read", nil},
	{"w", "unwrite", int64(0)}, {"a", "read", "left"}, {"w", "unwrite", int64(1)}, {"a", "read", nil}, {"w", "unread", int64(0)},
	{"a", "unread", int64(1)}, {"b", "write", nil}, {"b", "unwrite", int64(1)}, {"b", "unwrite", nil},
}

func readWriters(t *testing.T, key string, connect func() talk) map[string]*readWriter {
	all := make(map[string]*readWriter)
	for _, name := range []string{"a", "b", "w"} {
		all[name] = &readWriter{do: connect().do, t: t, key: key, who: name + "-uuid:1", lease: ttl}
	}
	return all
}

// keptOf are the keys that a server has of a lock, but for those by which Redisson finds answers again.
func keptOf(t *testing.T, r *Redis, key string) (keys []string) {
	t.Helper()
	for _, name := range append(ask(t, r, "KEYS", "*{"+key+"}*").([]any), ask(t, r, "KEYS", key).([]any)...) {
		if !strings.HasPrefix(name.(string), "redisson_unlock_latch:") && !strings.HasPrefix(name.(string), "redlock-proxy:{") {
			keys = append(keys, name.(string))
		}
	}
	slices.Sort(keys)
	return keys
}

// One real Redis and the proxy answer each step the same, and leave the same behind: the key of the
// lock and those of its holds.
func TestReadWriteLockIsAsOnOneRedis(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	one := startMaster(t, RedisOptions{Server: Installed})
	here := readWriters(t, "rw", func() talk { return dial(t, p.Addr) })
	there := readWriters(t, "rw", func() talk { return dial(t, one.Addr) })
	for i, s := range readWritten {
		got, want := here[s.who].does(s.what), there[s.who].does(s.what)
		checkReadWritten(t, fmt.Sprintf("step %d, %s of %s", i, s.what, s.who), got, s.want)
		checkReadWritten(t, fmt.Sprintf("step %d, %s of %s, on one Redis", i, s.what, s.who), want, s.want)
		keys := keptOf(t, one, "rw")
		for _, m := range masters {
			eventually(t, func() error {
				if kept := keptOf(t, m, "rw"); !slices.Equal(kept, keys) {
					return fmt.Errorf("step %d, %s of %s: a master holds %q, one Redis %q", i, s.what, s.who, kept, keys)
				}
				return nil
			})
		}
		for _, key := range keys {
			sameThere(t, key, one, masters)
		}
	}
}

func checkReadWritten(t *testing.T, step string, got, want any) {
	t.Helper()
	if n, is := got.(int64); want == "left" && is && n > 1000 && n <= 3*ttl.Milliseconds() {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: it is told %#v, want %#v", step, got, want)
	}
}

// Masters die one after the other, and come back without their memory: whoever holds the lock holds
// it on, and nobody else gets it. What is given back are the keys of its holds, too.
func TestReadWriteLockIsHeldWhileMastersDie(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	all := readWriters(t, "rw", func() talk { return dial(t, p.Addr) })
	for i, s := range readWritten {
		// One dies before every other step.
		victim := masters[i%3]
		if i%2 == 0 {
			must(t, victim.Kill())
			awaitVoting(t, p, 2)
		}
		checkReadWritten(t, fmt.Sprintf("step %d, %s of %s", i, s.what, s.who), all[s.who].does(s.what), s.want)
		if i%2 == 0 {
			must(t, victim.Restart())
			awaitVoting(t, p, 3)
		}
	}
	for _, m := range masters {
		eventually(t, func() error {
			if kept := keptOf(t, m, "rw"); len(kept) > 0 {
				return fmt.Errorf("a master holds %q, and the lock is nobody's", kept)
			}
			return nil
		})
	}
}

// inside is who has a lock at this moment, as far as he knows, and until when.
type inside struct {
	mu            sync.Mutex
	holds         map[*readWriter]time.Time
	writer        *readWriter
	writes, reads int
	shared        bool // two have read at once
}

// enter has somebody be inside, who has asked at a time, and tells of whom he is not to meet there.
func (in *inside) enter(r *readWriter, writes bool, asked time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	now := time.Now()
	for other, until := range in.holds {
		if meets := now.Before(until) && now.Before(asked.Add(r.lease)); meets && (writes || other == in.writer) {
			r.t.Errorf("%s is inside with %s, and one of them writes", r.who, other.who)
		} else if meets {
			in.shared = true
		}
	}
	in.holds[r] = asked.Add(r.lease)
	if writes {
		in.writer = r
		in.writes++
	} else {
		in.reads++
	}
}

func (in *inside) leave(r *readWriter) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.holds, r)
	if in.writer == r {
		in.writer = nil
	}
}

// goOn waits until as many more have written, and as many read.
func (in *inside) goOn(t *testing.T, n int) {
	t.Helper()
	in.mu.Lock()
	writes, reads := in.writes+n, in.reads+n
	in.mu.Unlock()
	eventually(t, func() error {
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.writes < writes || in.reads < reads {
			return fmt.Errorf("%d have written, want %d; and %d read, want %d", in.writes, writes, in.reads, reads)
		}
		return nil
	})
}

// visits has clients of proxies take the lock in turns, two of them to write, until enough is closed. A hold that was not
// let go of ends after a lease.
func (in *inside) visits(t *testing.T, lease time.Duration, enough <-chan struct{}, proxies ...*Proxy) *sync.WaitGroup {
	var done sync.WaitGroup
	for i := range 6 {
		r := &readWriter{do: dial(t, proxies[i%len(proxies)].Addr).do, t: t, key: "rw", who: fmt.Sprint("uuid:", i), lease: lease}
		take, leave := r.read, r.unread
		if i < 2 {
			take, leave = r.write, r.unwrite
		}
		done.Go(func() {
			for over := false; !over; {
				asked := time.Now()
				took := take()
				if took == nil {
					in.enter(r, i < 2, asked)
					time.Sleep(2 * time.Millisecond)
					in.leave(r)
				}
				// What may have happened is let go of, until that is known.
				for said := took; took == nil || isNoQuorum(said); {
					if said = leave(); !isNoQuorum(said) {
						break
					}
				}
				select {
				case <-enough:
					over = true
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	return &done
}

// While a master dies and comes back without its memory, and then another one dies, whoever writes is
// alone. A hold that is left behind by what was split as one died ends with its lease.
func TestWriterIsAloneAmongReaders(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	in := &inside{holds: make(map[*readWriter]time.Time)}
	enough := make(chan struct{})
	done := in.visits(t, 3*time.Second, enough, p)
	in.goOn(t, 10)
	must(t, masters[1].Kill())
	in.goOn(t, 10)
	must(t, masters[1].Restart())
	awaitVoting(t, p, 3)
	must(t, masters[2].Kill())
	in.goOn(t, 10)
	close(enough)
	done.Wait()
	if !in.shared {
		t.Error("no two have read at once")
	}
}

// Readers and writers of two proxies go on: no lease ends meanwhile.
func TestReadersAndWritersOfTwoProxiesGoOn(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3)
	second := startProxy(t, flags(masters)...)
	in := &inside{holds: make(map[*readWriter]time.Time)}
	enough := make(chan struct{})
	done := in.visits(t, ttl, enough, first, second)
	in.goOn(t, 30)
	close(enough)
	done.Wait()
}
