package integration

import (
	"fmt"
	"testing"
	"time"
)

// ttl is longer than anything is waited for, so that what a test waits to see freed is not
// what has run out.
const ttl = 2 * patience

func TestAcquireIsHeldByAllMastersAndRefusedToOthers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			masters, p := startQuorum(t, n)
			c := dial(t, p.Addr)
			c.lock("k", "t1", ttl)
			for i, m := range masters {
				eventually(t, func() error {
					if got := ask(t, m, "GET", "k"); got != "t1" {
						return fmt.Errorf("master %d holds %v", i, got)
					}
					return nil
				})
			}
			c.refused("k", "t2", ttl)
			dial(t, p.Addr).refused("k", "t1", ttl)
			c.unlock("k", "t1")
			wantGone(t, masters, "k")
			c.lock("k", "t2", ttl)
		})
	}
}

func TestLockIsHadWhileAMinorityHoldsAnotherToken(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	direct(t, masters[1]).want("OK", "SET", "k", "other")
	dial(t, p.Addr).lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 2)
	wantHolding(t, masters, "k", "other", 1)
}

// TestNobodyIsToldThatALockIsWonWhereNoValueIsKnown: to who sends SET NX GET, nil says that
// there was no value, and so that the lock is his.
func TestNobodyIsToldThatALockIsWonWhereNoValueIsKnown(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	for i, m := range masters {
		direct(t, m).want("OK", "SET", "k", fmt.Sprint("v", i))
	}
	c := dial(t, p.Addr)
	c.wantNoQuorum("SET", "k", "t", "NX", "GET", "PX", milliseconds(ttl))
	c.want(nil, "SET", "k", "t", "NX", "PX", milliseconds(ttl))
	direct(t, masters[0]).want("OK", "SET", "k", "v2")
	c.want("v2", "SET", "k", "t", "NX", "GET", "PX", milliseconds(ttl))
}

// TestExpiriesArePaddedByTheDrift: the clocks' allowance is the proxy's to pay.
func TestExpiriesArePaddedByTheDrift(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	const asked = 20 * time.Second
	// ttl/100 + 2 ms.
	const padded = asked + 202*time.Millisecond
	for _, test := range []struct {
		name    string
		prepare []string
		command []string
		reply   any
	}{
		{"SET NX PX", nil, []string{"SET", "k", "t", "NX", "PX", "20000"}, "OK"},
		{"SET NX EX", nil, []string{"SET", "k", "t", "EX", "20", "NX"}, "OK"},
		{"SET PX", nil, []string{"SET", "k", "t", "PX", "20000"}, "OK"},
		{"SETEX", nil, []string{"SETEX", "k", "20", "t"}, "OK"},
		{"PSETEX", nil, []string{"PSETEX", "k", "20000", "t"}, "OK"},
		{"EXPIRE", []string{"SET", "k", "t", "NX", "PX", "9000"}, []string{"EXPIRE", "k", "20"}, int64(1)},
		{"PEXPIRE", []string{"SET", "k", "t", "NX", "PX", "9000"}, []string{"PEXPIRE", "k", "20000"}, int64(1)},
		{"extend", []string{"SET", "k", "t", "NX", "PX", "9000"}, extendArgs("k", "t", asked), int64(1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := talk{c.Client, t}
			c.do("DEL", "k")
			wantGone(t, masters, "k")
			if test.prepare != nil {
				c.want("OK", test.prepare...)
				wantHolding(t, masters, "k", "t", 0, 1, 2)
			}
			start := time.Now()
			c.want(test.reply, test.command...)
			eventually(t, func() error {
				for i, m := range masters {
					left, spent := pttl(t, m, "k"), time.Since(start)
					if left > padded || left < padded-spent-2*time.Millisecond {
						return fmt.Errorf("master %d keeps it for %v, %v after it was put with %v", i, left, spent, padded)
					}
				}
				return nil
			})
			if left := time.Duration(c.integer("PTTL", "k")) * time.Millisecond; left > asked || left < asked-time.Since(start)-5*time.Millisecond {
				t.Errorf("PTTL tells %v of %v, %v after it was put", left, asked, time.Since(start))
			}
		})
	}
}

func TestAcquireWithoutTTLIsPersistedOnAQuorum(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i, command := range [][]string{{"SETNX", "k0", "t"}, {"SET", "k1", "t", "NX"}} {
		key := fmt.Sprint("k", i)
		reply := c.do(command...)
		if reply != int64(1) && reply != "OK" {
			t.Fatalf("%q: got %v", command, reply)
		}
		// Already when the OK is here.
		persisted := 0
		for _, m := range masters {
			if pttl(t, m, key) == -time.Millisecond {
				persisted++
			}
		}
		if persisted < 2 {
			t.Fatalf("%q: OK with the key persisted on %d masters", command, persisted)
		}
		c.want(-1, "PTTL", key)
		c.refused(key, "other", ttl)
		c.unlock(key, "t")
		wantGone(t, masters, key)
	}
}

// TestAcquireWithoutTTLIsPutWithOne: if the proxy dies before the quorum has
// it, no key may stay for ever.
func TestAcquireWithoutTTLIsPutWithOne(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	p, err := StartProxy(ProxyOptions{Path: program(t), Args: append(flags(masters), "--acquire-timeout", "10s")})
	must(t, err)
	t.Cleanup(func() { must(t, p.Kill()) })
	awaitVoting(t, p, 3)
	must(t, masters[1].Freeze())
	must(t, masters[2].Freeze())
	dial(t, p.Addr).send("SETNX", "k", "t")
	eventually(t, func() error {
		if left := pttl(t, masters[0], "k"); left <= 0 {
			return fmt.Errorf("its ttl is %v", left)
		}
		return nil
	})
	must(t, p.Kill())
}

func TestNoQuorumWithinAcquireTimeoutLeavesNothingBehind(t *testing.T) {
	masters, p := startQuorum(t, 3, brisk...)
	c := dial(t, p.Addr)
	must(t, masters[1].Freeze())
	must(t, masters[2].Freeze())
	for i := range 5 {
		key := fmt.Sprint("k", i)
		took(t, briskly+250*time.Millisecond, func() { c.wantNoQuorum(acquireArgs(key, "t", ttl)...) })
		wantGone(t, masters[:1], key)
	}
	must(t, masters[1].Thaw())
	must(t, masters[2].Thaw())
	awaitVoting(t, p, 3)
	c.lock("again", "t", ttl)
}

// TestNoQuorumTellsHowManyCanVote: its text is what operators read.
func TestNoQuorumTellsHowManyCanVote(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	must(t, masters[1].Kill())
	must(t, masters[2].Kill())
	awaitVoting(t, p, 1)
	dial(t, p.Addr).want(Failure("NOQUORUM 1 of 3 masters can vote, 2 are needed: 2 down"), acquireArgs("k", "t", ttl)...)
}

func TestAcquireTakesNoLongerThanHalfItsTTL(t *testing.T) {
	masters, p := startQuorum(t, 3, "--acquire-timeout", "5s", "--master-timeout", "10s")
	c := dial(t, p.Addr)
	must(t, masters[1].Freeze())
	must(t, masters[2].Freeze())
	took(t, time.Second, func() { c.wantNoQuorum(acquireArgs("k", "t", 400*time.Millisecond)...) })
}

// TestSplitIsTriedAgain: one master is gone, one holds a leftover that is about
// to expire, one grants.
func TestSplitIsTriedAgain(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--split-delay", "150ms", "--acquire-timeout", "2s")
	c := dial(t, p.Addr)
	must(t, masters[2].Kill())
	awaitVoting(t, p, 2)
	// Three tries wait for at least three fifths of it.
	direct(t, masters[0]).want("OK", "SET", "k", "other", "PX", "60")
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1)
}

// TestSplitThatStaysIsANo: contention with a master down is no outage.
func TestSplitThatStaysIsANo(t *testing.T) {
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	must(t, masters[2].Kill())
	awaitVoting(t, p, 2)
	direct(t, masters[0]).want("OK", "SET", "k", "other")
	took(t, time.Second, func() { c.refused("k", "t", ttl) })
	wantHolding(t, masters, "k", "other", 0)
	wantGone(t, masters[1:2], "k")
}

// TestVoteThatNoValueExplainsIsTriedAgain: one master grants, then two refuse
// for two leftovers: contended, and yet nobody holds the lock.
func TestVoteThatNoValueExplainsIsTriedAgain(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, append(relayFlags(relays), "--split-delay", "150ms", "--acquire-timeout", "2s")...)
	relays[0].Replies.Delay(10 * time.Millisecond)
	relays[1].Replies.Delay(10 * time.Millisecond)
	direct(t, masters[0]).want("OK", "SET", "k", "one", "PX", "60")
	direct(t, masters[1]).want("OK", "SET", "k", "two", "PX", "60")
	dial(t, p.Addr).lock("k", "t", ttl)
}
