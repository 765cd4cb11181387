package integration

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// twoProxies are in front of the same masters.
func twoProxies(t *testing.T, n int) ([]*Redis, []*Proxy) {
	t.Helper()
	masters, p := startQuorum(t, n)
	return masters, []*Proxy{p, startProxy(t, flags(masters)...)}
}

// The old pattern: a lock is a timestamp, and whoever finds it expired puts his own
// there by GETSET; he holds the lock if what he got back is the expired one.
func TestTakeoverOfAnExpiredTimestampIsWonOnce(t *testing.T) {
	t.Parallel()
	_, proxies := twoProxies(t, 3)
	const racers, rounds = 12, 8
	for round := range rounds {
		key, old := fmt.Sprintf("takeover:%d", round), "1000"
		dial(t, proxies[0].Addr).want(int64(1), "SETNX", key, old)
		var wins, errors atomic.Int64
		var ready, done sync.WaitGroup
		ready.Add(racers)
		for i := range racers {
			c := dial(t, proxies[i%2].Addr)
			done.Go(func() {
				ready.Done()
				ready.Wait()
				for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
					seen, err := c.Do("GET", key)
					if err != nil {
						errors.Add(1)
						return
					}
					if seen != nil && seen != old {
						if _, failed := seen.(Failure); !failed {
							return
						}
					}
					got, err := c.Do("GETSET", key, strconv.Itoa(2000+i))
					if err != nil {
						errors.Add(1)
						return
					}
					if got == old {
						wins.Add(1)
						return
					}
				}
			})
		}
		done.Wait()
		if wins.Load() != 1 || errors.Load() != 0 {
			t.Errorf("round %d: %d of %d took the lock over, and %d lost their connection", round, wins.Load(), racers, errors.Load())
		}
	}
}

// A transaction that is lost has latched what it watches, and an extension minds no latch.
func TestExtensionOutlivesATransactionThatOnlyWatches(t *testing.T) {
	t.Parallel()
	masters, proxies := twoProxies(t, 3)
	for i, m := range masters {
		ask(t, m, "SET", "differs", strconv.Itoa(i))
	}
	for i, p := range proxies {
		lock := fmt.Sprint("lock", i)
		dial(t, proxies[0].Addr).want("OK", "SET", lock, "a", "NX", "PX", "10000")
		must(t, masters[2].Freeze())
		watcher := dial(t, proxies[0].Addr)
		watcher.want("OK", "WATCH", lock)
		watcher.want("a", "GET", lock)
		watcher.want("OK", "MULTI")
		watcher.want("QUEUED", "INCR", "count")
		watcher.want("QUEUED", "GET", "differs")
		must(t, watcher.Send("EXEC"))
		time.Sleep(60 * time.Millisecond) // two masters have done it, and the third is waited for
		dial(t, p.Addr).want(int64(1), extendArgs(lock, "a", time.Minute)...)
		if reply, err := watcher.Receive(); err != nil || !strings.HasPrefix(fmt.Sprint(reply), "NOQUORUM ") {
			t.Errorf("EXEC: %v, %v", reply, err)
		}
		for j, m := range masters[:2] {
			if left := ask(t, m, "PTTL", lock).(int64); left < 50_000 {
				t.Errorf("on master %d what was extended for a minute ends in %d ms", j+1, left)
			}
		}
		must(t, masters[2].Thaw())
		awaitVoting(t, proxies[0], 3)
		awaitVoting(t, proxies[1], 3)
	}
}

// Whoever sends everything at once does not know yet what WATCH read; EXEC compares
// with it all the same.
func TestTransactionMayBeSentInOneFlush(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c, other := dial(t, p.Addr), dial(t, p.Addr)
	for i := range 50 {
		value := strconv.Itoa(i)
		var b []byte
		for _, args := range [][]string{
			{"SET", "flush:a", value}, {"HSET", "flush:h", "f", value},
			{"WATCH", "flush:a", "flush:h"}, {"GET", "flush:a"}, {"MULTI"},
			{"GET", "flush:a"}, {"HGET", "flush:h", "f"}, {"SET", "flush:b", value}, {"EXEC"}, {"GET", "flush:b"},
		} {
			b = append(b, Encode(args...)...)
		}
		must(t, c.SendRaw(b))
		c.receive("OK")
		if reply, err := c.Receive(); err != nil || reply != int64(0) && reply != int64(1) {
			t.Fatalf("HSET: %v, %v", reply, err)
		}
		c.receive("OK")
		c.receive(value)
		c.receive("OK")
		for range 3 {
			c.receive("QUEUED")
		}
		c.receive([]any{value, value, "OK"})
		c.receive(value)
	}

	// Somebody else's change between WATCH and EXEC.
	c.want("OK", "WATCH", "flush:a")
	other.want("OK", "SET", "flush:a", "other")
	must(t, c.SendRaw(append(append(Encode("MULTI"), Encode("SET", "flush:a", "mine")...), Encode("EXEC")...)))
	c.receive("OK")
	c.receive("QUEUED")
	c.receive(nil)
	other.want("other", "GET", "flush:a")
}

// StackExchange.Redis sends SCRIPT LOAD and EVALSHA in one flush.
func TestScriptIsThereForWhatFollowsItsLoad(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	text := "-- of this test\nreturn redis.call('set', KEYS[1], ARGV[1], 'PX', 30000)"
	loaded := c.text("SCRIPT", "LOAD", text)
	c.want("OK", "SCRIPT", "FLUSH")
	if f, ok := c.do("EVALSHA", loaded, "1", "load:a", "t").(Failure); !ok || f != "NOSCRIPT No matching script. Please use EVAL." {
		t.Errorf("a script that is not there: %v", f)
	}
	must(t, c.SendRaw(append(Encode("SCRIPT", "LOAD", text), Encode("EVALSHA", loaded, "1", "load:a", "t")...)))
	c.receive(loaded)
	c.receive("OK")
	c.want("t", "GET", "load:a")
}

// What is voted like a script goes on without a minority of the masters, and says
// NOQUORUM without a majority.
func TestHashesAndTransactionsGoOnWithoutAMinority(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.want(int64(1), "HSET", "minority:h", "f", "v")
	c.want("OK", "SET", "minority:a", "1")
	must(t, masters[2].Kill())
	c.want(int64(0), "HSET", "minority:h", "f", "w")
	c.want(int64(2), "INCR", "minority:a")
	c.want("w", "HGET", "minority:h", "f")
	c.want("OK", "WATCH", "minority:a", "minority:h")
	c.want("2", "GET", "minority:a")
	c.want("OK", "MULTI")
	c.want("QUEUED", "SET", "minority:a", "3", "PX", milliseconds(ttl))
	c.want("QUEUED", "HDEL", "minority:h", "f")
	c.want([]any{"OK", int64(1)}, "EXEC")
	c.want("OK", "WATCH", "minority:a")
	c.want("OK", "MULTI")
	c.want("QUEUED", "UNLINK", "minority:a")
	c.want([]any{int64(1)}, "EXEC")

	must(t, masters[1].Kill())
	c.wantNoQuorum("HSET", "minority:h", "f", "x")
	c.wantNoQuorum("WATCH", "minority:b")
	c.want("OK", "MULTI")
	c.want("QUEUED", "SET", "minority:c", "1")
	c.want("QUEUED", "PING")
	c.want(nil, "EXEC") // what WATCH could not read is not known to be the same
	c.want("OK", "MULTI")
	c.want("QUEUED", "SET", "minority:c", "1", "NX")
	c.wantNoQuorum("EXEC")
}

// Lua has no whole numbers beyond 2^53.
func TestTransactionCountsBeyondWhatLuaCanHold(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	const n = 9007199254740992
	c.want("OK", "SET", "far", fmt.Sprint(n))
	c.want(int64(1), "HSET", "far:h", "f", fmt.Sprint(-n))
	c.want("OK", "MULTI")
	c.want("QUEUED", "INCR", "far")
	c.want("QUEUED", "INCRBY", "far", "2")
	c.want("QUEUED", "HINCRBY", "far:h", "f", "-3")
	c.want([]any{int64(n + 1), int64(n + 3), int64(-n - 3)}, "EXEC")
}

// The embedded masters run scripts on all that locks are made of.
func TestEmbeddedMastersKnowTransactions(t *testing.T) {
	t.Parallel()
	p := launch(t, ProxyOptions{Args: []string{"--acquire-timeout", "20s", "--master-timeout", "20s"}})
	awaitVoting(t, p, 3)
	c := dial(t, p.Addr)
	c.want("OK", "SET", "embedded:a", "1")
	c.want("OK", "WATCH", "embedded:a")
	c.want("1", "GET", "embedded:a")
	c.want("OK", "MULTI")
	c.want("QUEUED", "SET", "embedded:a", "2", "PX", milliseconds(ttl))
	c.want("QUEUED", "GET", "embedded:a")
	c.want([]any{"OK", "2"}, "EXEC")
	c.want("2", "GETSET", "embedded:a", "3")
	c.want("OK", "SET", "embedded:a", "4", "IFEQ", "3", "PX", milliseconds(ttl))
	c.want(int64(1), "DELEX", "embedded:a", "IFEQ", "4")
	c.want(int64(1), "INCR", "embedded:n")
	c.want(int64(1), "HSET", "embedded:h", "f", "v")
	c.want("OK", "WATCH", "embedded:h")
	c.want("OK", "MULTI")
	c.want("QUEUED", "HSET", "embedded:h", "f", "w")
	c.want("QUEUED", "ZADD", "embedded:z", "1", "m")
	c.want([]any{int64(0), int64(1)}, "EXEC")
	c.want("w", "HGET", "embedded:h", "f")
	// An error of a script leaves the rest as it is to be.
	c.want("OK", "MULTI")
	c.want("QUEUED", "EVAL", "redis.call('SET', KEYS[1], ARGV[1]) error({err = 'OWN error'})", "1", "embedded:s", "before")
	c.want("QUEUED", "EVAL", "return redis.pcall('HGET', KEYS[1], 'f').err", "1", "embedded:s")
	c.want("QUEUED", "INCR", "embedded:n")
	c.want("QUEUED", "EVAL", "return redis.call('INCRBY', KEYS[1], ARGV[1])", "1", "embedded:n", "5")
	c.want("QUEUED", "GET", "embedded:s")
	replies, ok := c.do("EXEC").([]any)
	if !ok || len(replies) != 5 || !strings.HasPrefix(fmt.Sprint(replies[0]), "OWN error script: ") || !strings.HasPrefix(fmt.Sprint(replies[1]), "WRONGTYPE ") ||
		replies[2] != int64(2) || replies[3] != int64(7) || replies[4] != "before" {
		t.Errorf("EXEC with scripts: %q", replies)
	}
	c.want("before", "GET", "embedded:s")
	c.want("7", "GET", "embedded:n")
}
