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

const (
	// setsAll sets its key, another one with the hash tag of that, and what its argument names.
	setsAll = "redis.call('SET', KEYS[1], 'v') redis.call('SET', '{' .. KEYS[1] .. '}:mate', 'v') return redis.call('SET', ARGV[1], 'v')"

	notGiven = "ERR the script uses the key '%s', which it was not given: give it in KEYS"
)

// A script that uses a foreign key is undone where it stands, on all masters, and while one is away.
func TestScriptThatUsesAForeignKeyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--user", "default on nopass ~* &* +@all", "--user", "ann on nopass ~app* ~{app* +@all", "--user", "bob on nopass ~app* +@all (~* +eval +get)")
	c := dial(t, p.Addr)
	refused := func(c talk, key, foreign, want string) {
		t.Helper()
		for _, multi := range []bool{false, true} {
			if multi {
				c.want("OK", "MULTI")
				c.want("QUEUED", "SET", key+":before", "v")
			}
			got := c.do("EVAL", setsAll, "1", key, foreign)
			if multi {
				got = c.do("EXEC")
			}
			if f, _ := got.(Failure); !strings.HasPrefix(string(f), want) {
				t.Errorf("given %q, using %q: it is told %v, want %s", key, foreign, got, want)
			}
			for i, m := range masters {
				if m.Ended() {
					continue
				}
				if keys := ask(t, m, "KEYS", "*app*"); !reflect.DeepEqual(keys, []any{}) {
					t.Errorf("given %q, using %q: master %d holds %q", key, foreign, i+1, keys)
				}
			}
		}
	}
	cure := ", or give it the hash tag of one that is there"
	all := func() {
		for _, foreign := range []string{"foreign", "app:x", "{ap}p", "{app", "x{}{app}", "{}app"} {
			refused(c, "app", foreign, fmt.Sprintf(notGiven, foreign)+cure)
		}
		refused(c, "app", "redlock-proxy:{app}", "ERR the script uses the key 'redlock-proxy:{app}': keys that begin with redlock-proxy:{ are the proxy's own")
		refused(c, "app", "redlock-proxy:{marker}", "ERR the script uses the key 'redlock-proxy:{marker}': keys that begin with redlock-proxy:{ are the proxy's own")
		// Who may not use all keys is told so of the first that he was not given, whatever its tag.
		for _, user := range []string{"ann", "bob"} {
			restricted := dial(t, p.Addr)
			restricted.want("OK", "AUTH", user, "x")
			refused(restricted, "app", "foreign", fmt.Sprintf(notGiven, "{app}:mate")+", since its user may not use all keys")
		}
	}
	all()
	must(t, masters[1].Kill())
	awaitVoting(t, p, 2)
	all()
	c.want("OK", "EVAL", setsAll, "1", "app", "{app}:x")
	c.want([]any{"v", "v", "v"}, "MGET", "app", "{app}:mate", "{app}:x")
	must(t, masters[1].Restart())
	awaitVoting(t, p, 3)
	for _, key := range []string{"app", "{app}:mate", "{app}:x"} {
		if got := ask(t, masters[1], "GET", key); got != "v" {
			t.Errorf("the master that was away holds %v in %s", got, key)
		}
	}
}

// Through two proxies a key is counted by itself, and by a script in a transaction that was given
// another one: each number is told once, while a master dies.
func TestCountsOfOneTagAreToldOnceEach(t *testing.T) {
	t.Parallel()
	masters, proxies := twoProxies(t, 3)
	const each, clients = 25, 6
	var mu sync.Mutex
	var told []int64
	var done sync.WaitGroup
	for i := range clients {
		c := dial(t, proxies[i%2].Addr)
		done.Go(func() {
			for n := 0; n < each; {
				reply, err := any(nil), error(nil)
				if i%3 == 0 {
					reply, err = c.Do("INCR", "{c}:n")
				} else {
					for _, words := range [][]string{{"MULTI"}, {"PING"}, {"EVAL", "return redis.call('INCR', '{' .. KEYS[1] .. '}:n')", "1", "c"}, {"EXEC"}} {
						if reply, err = c.Do(words...); err != nil {
							break
						}
					}
					if replies, is := reply.([]any); is && len(replies) == 2 {
						reply = replies[1]
					}
				}
				number, is := reply.(int64)
				switch {
				case is:
					mu.Lock()
					told = append(told, number)
					mu.Unlock()
					n++
				case err != nil || !isNoQuorum(reply):
					t.Errorf("it is answered %v, %v", reply, err)
					return
				}
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	must(t, masters[2].Kill())
	done.Wait()
	slices.Sort(told)
	if len(told) != each*clients || len(slices.Compact(slices.Clone(told))) != len(told) {
		t.Errorf("%d numbers are told, and these: %v", len(told), told)
	}
}

// What a script does to a key that it was not given is known to those who wait for that, and watch it.
func TestWhoWaitsForAKeyThatAScriptReachesIsServed(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, "--acquire-wait", "30s")
	c, waits, watches := dial(t, p.Addr), dial(t, p.Addr), dial(t, p.Addr)
	waits.send("BLPOP", "{q}:list", "20")
	watches.want("OK", "WATCH", "{q}:list", "{q}:n")
	time.Sleep(100 * time.Millisecond)
	c.want(int64(1), "EVAL", "redis.call('INCR', '{q}:n') return redis.call('RPUSH', '{' .. KEYS[1] .. '}:list', 'e')", "1", "q")
	waits.receive([]any{"{q}:list", "e"})
	watches.want("OK", "MULTI")
	watches.want("QUEUED", "PING")
	watches.want(nil, "EXEC")

	c.want("OK", "SET", "{q}:lock", "a", "NX", "PX", "25000")
	waits.send("SET", "{q}:lock", "b", "NX", "PX", "25000")
	time.Sleep(100 * time.Millisecond)
	c.want(int64(1), "EVAL", "return redis.call('DEL', '{' .. KEYS[1] .. '}:lock')", "1", "q")
	waits.receive("OK")
}

// What one connection asks of keys of a tag, and of a script that reaches them, is carried out in its
// order, though it is sent at once.
func TestPipelineOfATagKeepsItsOrder(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i := range 40 {
		var b []byte
		for _, words := range [][]string{
			{"SET", "{p}:a", fmt.Sprint(i)},
			{"INCR", "{p}:a"},
			{"EVAL", "local n = redis.call('GET', '{p}:a') redis.call('SET', '{p}:b', n) return n", "1", "p"},
			{"INCR", "{p}:b"},
			{"SET", "{p}:lock", "t", "NX", "PX", "30000"},
			{"EVAL", "return redis.call('GET', '{p}:b') .. redis.call('GET', '{p}:lock')", "1", "p"},
			{"DEL", "{p}:lock"},
		} {
			b = append(b, Encode(words...)...)
		}
		must(t, c.SendRaw(b))
		for _, want := range []any{"OK", int64(i + 1), fmt.Sprint(i + 1), int64(i + 2), "OK", fmt.Sprint(i+2) + "t", int64(1)} {
			c.receive(want)
		}
	}
}
