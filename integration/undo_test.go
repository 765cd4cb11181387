package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLostAcquireIsUndoneBeforeTheNo: a client that retries at once with the
// same token must not meet its own leftover. The leftover would show in the
// ttl: it is longer than that of the retry.
func TestLostAcquireIsUndoneBeforeTheNo(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	m0, m1 := direct(t, masters[0]), direct(t, masters[1])
	for i := range 100 {
		key := fmt.Sprint("k", i)
		m0.want("OK", "SET", key, "other")
		m1.want("OK", "SET", key, "other")
		c.refused(key, "t", 2*ttl)
		m0.want(1, "DEL", key)
		m1.want(1, "DEL", key)
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		wantRetryHeld(t, masters[2], key)
	}
}

// wantRetryHeld waits until what a master holds is the retry's.
func wantRetryHeld(t *testing.T, m *Redis, key string) {
	t.Helper()
	eventually(t, func() error {
		if left := pttl(t, m, key); left < 0 || left > ttl+ttl/50 {
			return fmt.Errorf("master 2 still holds the lost acquire, for %v", left)
		}
		return nil
	})
}

// TestLateGrantIsUndoneBeforeAnythingNewer is the same with a master whose
// grant comes after the no was sent.
func TestLateGrantIsUndoneBeforeAnythingNewer(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	slow := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(flags(masters[:2]), "--master", slow.Addr)...)
	c := dial(t, p.Addr)
	m0, m1 := direct(t, masters[0]), direct(t, masters[1])
	slow.Replies.Delay(20 * time.Millisecond)
	for i := range 20 {
		key := fmt.Sprint("k", i)
		m0.want("OK", "SET", key, "other")
		m1.want("OK", "SET", key, "other")
		c.refused(key, "t", 2*ttl)
		m0.want(1, "DEL", key)
		m1.want(1, "DEL", key)
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		wantRetryHeld(t, masters[2], key)
	}
}

// loseOnceAsked has an acquire be refused by masters 0 and 1 when master 2 has been asked:
// one that is lost already is not sent any more.
func loseOnceAsked(t *testing.T, p *Proxy, masters []*Redis, relays []*Relay, key, token string) {
	t.Helper()
	c := dial(t, p.Addr)
	sets := callsOn(t, masters[2], "SET", key)
	for _, r := range relays[:2] {
		r.Replies.Hold()
	}
	must(t, c.Send("SET", key, token, "NX", "PX", milliseconds(ttl)))
	eventually(t, func() error {
		if sets() == 0 {
			return fmt.Errorf("master 2 was not asked")
		}
		return nil
	})
	for _, r := range relays[:2] {
		r.Replies.Release()
	}
	if reply, err := c.Receive(); reply != nil || err != nil {
		t.Fatalf("SET %s %s NX: %v (%v), want nil", key, token, reply, err)
	}
}

func TestLateGrantOfALostAcquireIsUndone(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, append(relayFlags(relays), unhurried...)...)
	direct(t, masters[0]).want("OK", "SET", "k", "other")
	direct(t, masters[1]).want("OK", "SET", "k", "other")
	slow := relays[2]
	slow.Replies.Hold()
	loseOnceAsked(t, p, masters, relays, "k", "t")
	wantHolding(t, masters, "k", "t", 2)
	slow.Replies.Release()
	wantGone(t, masters[2:], "k")
}

// All masters stop for as long as a decision may take, each having answered just before.
func TestNothingIsLeftOfALockWhereAllMastersHung(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--acquire-timeout", briskly.String(), "--master-timeout", "10s")
	c := dial(t, p.Addr)
	for i := range 3 {
		key := fmt.Sprint("k", i)
		c.lock("before"+key, "t", ttl)
		for _, m := range masters {
			must(t, m.Freeze())
		}
		c.wantNoQuorum(acquireArgs(key, "t", ttl)...)
		for _, m := range masters {
			must(t, m.Thaw())
		}
		wantGone(t, masters, key)
		c.lock(key, "other", ttl)
	}
}

// TestRefusedMasterIsNeverTouched: the holder and the contender lock with the
// same constant, as clients do that lock with a host's name. The holder's key
// lives longer than what the contender asked for, or not so long.
func TestRefusedMasterIsNeverTouched(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	for _, life := range []time.Duration{3 * ttl / 2, ttl / 2} {
		freed := false
		for try := 0; !freed; try++ {
			if try == 5 {
				t.Fatalf("beside a key of %v master 2 was never freed", life)
			}
			freed = refusedTwentyTimes(t, p, masters, fmt.Sprint("k", life, try), life)
		}
	}
}

// refusedTwentyTimes tells whether master 2 was freed of what the contender left there, which
// it need not be if a batch took so long that it was not known when that ends: then the proxy
// counts it as missed.
func refusedTwentyTimes(t *testing.T, p *Proxy, masters []*Redis, key string, life time.Duration) (freed bool) {
	t.Helper()
	c := dial(t, p.Addr)
	missed := func() string {
		_, rest, _ := strings.Cut(c.text("INFO", "quorum"), "undos_missed:")
		n, _, ok := strings.Cut(rest, "\r\n")
		if !ok {
			t.Fatal("INFO does not count what could not be undone")
		}
		return n
	}
	before := missed()
	for _, m := range masters[:2] {
		direct(t, m).want("OK", "SET", key, "1", "PX", milliseconds(life))
	}
	for range 20 {
		dial(t, p.Addr).refused(key, "1", ttl)
	}
	eventually(t, func() error {
		if freed = ask(t, masters[2], "EXISTS", key) == int64(0); freed || missed() != before {
			return nil
		}
		return fmt.Errorf("master 2 still has %s", key)
	})
	always(t, 200*time.Millisecond, func() error {
		for i, m := range masters[:2] {
			if left := pttl(t, m, key); left < life-10*time.Second || left > life {
				return fmt.Errorf("the holder's key on master %d lives for %v of %v", i, left, life)
			}
		}
		return nil
	})
	return freed
}

// TestUnknownGrantIsNotDeletedBlindly: what a master said was never heard, and
// the key there is somebody else's under the same token.
func TestUnknownGrantIsNotDeletedBlindly(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, append(relayFlags(relays), unhurried...)...)
	direct(t, masters[0]).want("OK", "SET", "k", "other")
	direct(t, masters[1]).want("OK", "SET", "k", "other")
	direct(t, masters[2]).want("OK", "SET", "k", "1", "PX", "200000")
	relay := relays[2]
	relay.Replies.Hold()
	loseOnceAsked(t, p, masters, relays, "k", "1")
	relay.Cut()
	awaitVoting(t, p, 2)
	relay.Replies.Release()
	relay.Restore()
	awaitVoting(t, p, 3)
	always(t, 300*time.Millisecond, func() error {
		if got := ask(t, masters[2], "GET", "k"); got != "1" {
			return fmt.Errorf("somebody else's key is %v", got)
		}
		return nil
	})
}

// TestLostAcquireIsNotSentToALateMaster: it would only have to be taken back.
func TestLostAcquireIsNotSentToALateMaster(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relay := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(append(flags(masters[:2]), "--master", relay.Addr), unhurried...)...)
	c := dial(t, p.Addr)
	direct(t, masters[0]).want("OK", "SET", "k", "other")
	direct(t, masters[1]).want("OK", "SET", "k", "other")

	// A batch that is not answered keeps the lane of master 2.
	relay.Replies.Hold()
	c.lock("first", "t", ttl)
	wantHolding(t, masters, "first", "t", 0, 1, 2)
	sets := callsOn(t, masters[2], "SET", "k")
	c.refused("k", "t", ttl)
	relay.Replies.Release()
	c.lock("last", "t", ttl)
	wantHolding(t, masters, "last", "t", 0, 1, 2)
	if n := sets(); n != 0 {
		t.Fatalf("master 2 was asked %d times for the lock that was lost already", n)
	}
}

// TestExtensionIsToldFromWhatItHasExtended: what is undone is told by when it ends, to 50 ms.
func TestExtensionIsToldFromWhatItHasExtended(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i, extend := range [][]string{extendArgs("k0", "t", ttl), {"PEXPIRE", "k1", milliseconds(ttl)}} {
		key, asked := fmt.Sprint("k", i), time.Now()
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		before := endOf(t, masters[0], key)
		c.want(1, extend...)
		// By as much as has passed since the lock was asked for, and at least by 51 ms.
		eventually(t, func() error {
			by := endOf(t, masters[0], key).Sub(before)
			if most := max(time.Since(asked), 51*time.Millisecond) + 2*time.Millisecond; by > most {
				t.Fatalf("%q has moved the end by %v, want at most %v", extend, by, most)
			}
			if by < 50*time.Millisecond {
				return fmt.Errorf("%q has moved the end by %v", extend, by)
			}
			return nil
		})
		for range 20 {
			c.want(1, extend...)
		}
		if left := pttl(t, masters[0], key); left > ttl+ttl/100+200*time.Millisecond {
			t.Errorf("extended over and over by %q, it lives for %v", extend, left)
		}
	}
}

// endOf is when a key ends on a master, by the master's own clock.
func endOf(t *testing.T, m *Redis, key string) time.Time {
	t.Helper()
	const script = `local t = redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) + redis.call('PTTL', KEYS[1])`
	c := direct(t, m)
	defer c.Close()
	return time.UnixMilli(c.integer("EVAL", script, "1", key))
}

// TestExpiryOfALeftoverIsPutBack: what another's lost acquire has left ends when it would
// have, though somebody has changed the life of what a quorum holds.
func TestExpiryOfALeftoverIsPutBack(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i, change := range [][]string{{"PEXPIRE", "k0", "100000"}, {"PERSIST", "k1"}} {
		key := fmt.Sprint("k", i)
		for j, value := range []string{"holder", "holder", "leftover"} {
			direct(t, masters[j]).want("OK", "SET", key, value, "PX", "20000")
		}
		c.want(1, change...)
		eventually(t, func() error {
			if left := pttl(t, masters[2], key); left < 15*time.Second || left > 20*time.Second {
				return fmt.Errorf("after %q what was left lives for %v", change, left)
			}
			return nil
		})
	}
}
