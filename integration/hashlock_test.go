package integration

import (
	"fmt"
	"strings"
	"testing"
)

// redisson is a client that locks as Redisson 4.7 does.
type redisson struct {
	talk
	key, owner string
	requests   int
}

func (r *redisson) lock() any {
	return r.do("EVAL", corpus(r.t, "redisson-tryLock"), "1", r.key, milliseconds(ttl), r.owner)
}

// unlock answers 1 where the lock is free now, 0 where it is held still, and nil where it
// was not held. Each request has a key of its own, by which its answer is found again.
func (r *redisson) unlock() any {
	r.requests++
	latch := fmt.Sprintf("redisson_unlock_latch:{%s}:%d", r.key, r.requests)
	return r.do("EVAL", corpus(r.t, "redisson-unlock"), "3", r.key, "redisson_lock__channel:{"+r.key+"}", latch, "0", milliseconds(ttl), r.owner, "publish", "13500")
}

// renewScript is what its watchdog sends.
const renewScript = `if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then redis.call('pexpire', KEYS[1], ARGV[1]); return 1; end; return 0;`

// lockedWithout is a lock that the first of three masters has missed, with the relays before
// them.
func lockedWithout(t *testing.T) (a *redisson, masters []*Redis, relays []*Relay, p *Proxy) {
	t.Helper()
	masters = startMasters(t, 3)
	relays = relayed(t, masters)
	p = startProxy(t, relayFlags(relays)...)
	a = &redisson{talk: dial(t, p.Addr), key: "k", owner: "a:1"}
	awaitVoting(t, p, 3)
	relays[0].Cut()
	awaitVoting(t, p, 2)
	if r := a.lock(); r != nil {
		t.Fatal(r)
	}
	relays[0].Restore()
	awaitVoting(t, p, 3)
	return a, masters, relays, p
}

// One master has missed the lock, and another one is away when it is let go: that one holds
// it still, and a third has removed it, which is not put back.
func TestHolderIsNotToldThatItHeldNothingWithAMasterAway(t *testing.T) {
	t.Parallel()
	a, _, relays, p := lockedWithout(t)
	relays[1].Cut()
	awaitVoting(t, p, 2)
	if r := a.unlock(); r != int64(1) && !strings.HasPrefix(fmt.Sprint(r), "NOQUORUM ") {
		t.Errorf("the holder lets go of the lock, and is told %v", r)
	}
}

// Renewals bring the lock to the master that has missed it, so that another one may go away.
func TestRenewalsBringALockToAMasterThatHasMissedIt(t *testing.T) {
	t.Parallel()
	a, masters, relays, p := lockedWithout(t)
	for range 20 {
		a.want(1, "EVAL", renewScript, "1", a.key, milliseconds(ttl), a.owner)
		if ask(t, masters[0], "EXISTS", a.key) == int64(1) {
			break
		}
	}
	relays[1].Cut()
	awaitVoting(t, p, 2)
	a.want(1, "EVAL", renewScript, "1", a.key, milliseconds(ttl), a.owner)
	a.want(nil, "EVAL", corpus(t, "redisson-tryLock"), "1", a.key, milliseconds(ttl), a.owner)
	if r := a.unlock(); r != int64(0) {
		t.Errorf("it holds the lock once more, and is told %v", r)
	}
}

// Masters may keep one thing in different ways: as they are set, each by itself, or by what it
// was before.
func TestMastersThatAreSetOtherwiseAgreeOnALock(t *testing.T) {
	t.Parallel()
	var masters []*Redis
	for _, settings := range [][]string{
		{"--hash-max-ziplist-value", "1", "--zset-max-ziplist-value", "1", "--set-max-intset-entries", "0", "--list-max-ziplist-size", "1"},
		{"--rdbcompression", "no"},
		nil,
	} {
		masters = append(masters, startMaster(t, RedisOptions{Args: settings}))
	}
	p := startProxy(t, flags(masters)...)
	a := &redisson{talk: dial(t, p.Addr), key: "k", owner: "5f2b1c9e-3a3e-4b1c-8f8e-1c2d3e4f5a6b:12"}
	long := strings.Repeat("a", 50)
	a.want("OK", "SET", "string", long)
	lock := func() {
		t.Helper()
		if r := a.lock(); r != nil {
			t.Fatal(r)
		}
	}
	lock()
	lock()
	// One master is away, so that those which are there must agree.
	for i, m := range masters {
		must(t, m.Freeze())
		awaitVoting(t, p, 2)
		lock()
		if r := a.unlock(); r != int64(0) {
			t.Errorf("it holds the lock still, and is told %v", r)
		}
		members := func(of string) string { return fmt.Sprint(of, i) }
		a.want(1, "HSET", members("hash"), long, "1")
		a.want(0, "HSET", members("hash"), long, "2")
		a.want(3, "SADD", members("set"), "1", "2", "3")
		a.want(1, "SREM", members("set"), "1")
		a.want(2, "ZADD", members("zset"), "1", long, "1.5", "b")
		a.want(1, "ZREM", members("zset"), "b")
		a.want(3, "RPUSH", members("list"), long, "1", "b")
		a.want(long, "LPOP", members("list"))
		a.want("b", "EVAL", "return redis.call('rpoplpush', KEYS[1], KEYS[1])", "1", members("list"))
		a.want(1, "EXPIRE", "string", "100")
		must(t, m.Thaw())
		awaitVoting(t, p, 3)
		// What it has missed it is given by a renewal, before another one goes away.
		eventually(t, func() error {
			a.want(1, "EVAL", renewScript, "1", a.key, milliseconds(ttl), a.owner)
			for _, other := range masters {
				if one, two := ask(t, m, "HGETALL", a.key), ask(t, other, "HGETALL", a.key); fmt.Sprint(one) != fmt.Sprint(two) {
					return fmt.Errorf("it holds %v, and another one %v", one, two)
				}
			}
			return nil
		})
	}
	if r := a.unlock(); r != int64(0) {
		t.Errorf("it holds the lock still, and is told %v", r)
	}
	if r := a.unlock(); r != int64(1) {
		t.Errorf("it holds the lock no more, and is told %v", r)
	}
}
