package integration

import (
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"
)

// What a script makes of what is left of a ttl, of which each master has its own milliseconds, a quorum has made the same of.
func TestScriptPutsDownWhatIsLeft(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "v", "PX", "60000")
	for i, m := range masters {
		eventually(t, func() error {
			if n := ask(t, m, "PEXPIRE", "k", fmt.Sprint(60000+50*i)); n != int64(1) {
				return fmt.Errorf("PEXPIRE at a master: %v", n)
			}
			return nil
		})
	}
	for i, command := range []string{"pttl", "pexpiretime"} {
		said := c.do("EVAL", `local n = redis.call(ARGV[1], KEYS[1]) redis.call('zadd', KEYS[2], n, ARGV[2]) return tostring(n)`, "2", "k", "z", command, command)
		least, _ := strconv.ParseInt(fmt.Sprint(said), 10, 64)
		if i == 1 {
			least -= time.Now().UnixMilli()
		}
		if least < 30_000 || least > 60_000 {
			t.Errorf("%s: told is %v", command, said)
		}
		c.want(said, "ZSCORE", "z", command)
	}
}

// Each two of three masters hold the same of one key, and no two of both: a step that is about both goes on all the
// same, and leaves them alike; at once where only steps write such keys, and else after a while.
func TestMastersThatHaveMissedDifferentStepsAreSetRight(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	keys := []string{"one", "other"}
	for name, test := range map[string]struct {
		script string
		each   int64 // elements afterwards
	}{
		"one that acts": {"return {redis.call('RPUSH', KEYS[1], 'c'), redis.call('RPUSH', KEYS[2], 'c')}", 3},
		// It might write, and does not, so that it latches nothing the first time.
		"one that declines": {"if #ARGV > 0 then redis.call('LPUSH', KEYS[1], 'c') end return {redis.call('LLEN', KEYS[1]), redis.call('LLEN', KEYS[2])}", 2},
	} {
		for i, m := range masters {
			for _, key := range keys {
				elements := []string{"RPUSH", key, "a", "b"}
				if i == 0 && key == "one" || i == 2 && key == "other" {
					elements = elements[:3]
				}
				ask(t, m, elements...)
			}
		}
		if got := c.do("EVAL", test.script, "2", "one", "other"); !reflect.DeepEqual(got, []any{test.each, test.each}) {
			t.Errorf("%s: %v", name, got)
		}
		hold := func(want int64) {
			t.Helper()
			for i, m := range masters {
				for _, key := range keys {
					eventually(t, func() error {
						if got := ask(t, m, "LLEN", key); got != want {
							return fmt.Errorf("%s: master %d holds %v elements of %s, want %d", name, i+1, got, key, want)
						}
						return nil
					})
				}
			}
		}
		hold(test.each)
		for _, key := range keys {
			c.want(int64(1), "DEL", key)
		}
		hold(0)
	}
}

// fairLocker is a thread that locks as one of Redisson 4.7 does by a RFairLock, whose waiters stand in a list.
type fairLocker struct {
	talk
	t        *testing.T
	key, who string
	requests int
}

func (f *fairLocker) queue() string    { return "redisson_lock_queue:{" + f.key + "}" }
func (f *fairLocker) timeouts() string { return "redisson_lock_timeout:{" + f.key + "}" }

func (f *fairLocker) now() string { return fmt.Sprint(time.Now().UnixMilli()) }

// take is nil where the lock is had, and else how long it is held by another.
func (f *fairLocker) take() any {
	return f.do(call(corpus(f.t, "redisson-fairTryLock"), k(f.key, f.queue(), f.timeouts()), k(milliseconds(ttl), f.who, "300000", f.now()))...)
}

func (f *fairLocker) release() any {
	f.requests++
	latch := fmt.Sprintf("redisson_unlock_latch:{%s}:%s-%d", f.key, f.who, f.requests)
	return f.do(call(corpus(f.t, "redisson-fairUnlock"), k(f.key, f.queue(), f.timeouts(), "redisson_lock__channel:{"+f.key+"}", latch),
		k("0", milliseconds(ttl), f.who, f.now(), "publish", "13500"))...)
}

// Those who wait for a fair lock have it in the order in which they came, and none is told NOQUORUM.
func TestFairLockGoesToWhoeverCameFirst(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, unhurried...)
	var all []*fairLocker
	for i := range 6 {
		all = append(all, &fairLocker{talk: dial(t, p.Addr), t: t, key: "fair", who: fmt.Sprintf("uuid:%d", i)})
	}
	for round := range 5 {
		if said := all[0].take(); said != nil {
			t.Fatalf("round %d: a free lock is answered with %v", round, said)
		}
		for _, f := range all[1:] {
			if left, is := f.take().(int64); !is || left <= 0 {
				t.Fatalf("round %d: %s is told %v while it is held", round, f.who, left)
			}
		}
		for i, f := range all {
			for _, later := range all[i+1:] {
				if left, is := later.take().(int64); !is || left <= 0 {
					t.Fatalf("round %d: %s is told %v while %s has it", round, later.who, left, f.who)
				}
			}
			if n := f.release(); n != int64(1) {
				t.Fatalf("round %d: the release of %s: %v", round, f.who, n)
			}
			if i+1 == len(all) {
				break
			}
			for _, later := range all[i+2:] {
				if left, is := later.take().(int64); !is || left < 0 {
					t.Fatalf("round %d: %s is told %v before his turn", round, later.who, left)
				}
			}
			if said := all[i+1].take(); said != nil {
				t.Fatalf("round %d: %s is told %v, and it is his turn", round, all[i+1].who, said)
			}
		}
	}
}
