package integration

import (
	"fmt"
	"testing"
	"time"
)

// TestLocksOutliveTheProxy: it keeps no state of its own that matters.
func TestLocksOutliveTheProxy(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	first, err := StartProxy(ProxyOptions{Path: program(t), Args: append(flags(masters), patient...)})
	must(t, err)
	t.Cleanup(func() { must(t, first.Kill()) })
	awaitVoting(t, first, 3)
	dial(t, first.Addr).lock("k", "t", ttl)
	must(t, first.Kill())

	c := dial(t, startProxy(t, flags(masters)...).Addr)
	c.refused("k", "other", ttl)
	c.want(1, extendArgs("k", "t", ttl)...)
	c.unlock("k", "t")
	c.lock("k", "other", ttl)
}

// TestProxiesAndRedlockClientsShareTheLocks: any number of proxies may stand in
// front of the same masters, beside clients that run Redlock themselves.
func TestProxiesAndRedlockClientsShareTheLocks(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	one := dial(t, startProxy(t, flags(masters)...).Addr)
	two := dial(t, startProxy(t, flags(masters)...).Addr)
	one.lock("k", "t", ttl)
	two.refused("k", "other", ttl)
	two.want("t", "GET", "k")
	two.unlock("k", "t")
	one.want(nil, "GET", "k")

	for _, m := range masters[1:] {
		direct(t, m).want("OK", acquireArgs("own", "redlock", ttl)...)
	}
	one.refused("own", "t", ttl)
	wantGone(t, masters[:1], "own")
	for _, m := range masters[1:] {
		direct(t, m).want(1, releaseArgs("own", "redlock")...)
	}
	two.lock("own", "t", ttl)
	wantHolding(t, masters, "own", "t", 0, 1, 2)
	granted := 0
	for _, m := range masters {
		if ask(t, m, acquireArgs("own", "redlock", ttl)...) == "OK" {
			granted++
		}
	}
	if granted > 0 {
		t.Errorf("a Redlock client got %d votes for a lock that is held", granted)
	}
}

// TestOneServerUnderTwoNamesVotesOnce: a name comes to lead to another member's
// server, which must not be a quorum by itself.
func TestOneServerUnderTwoNamesVotesOnce(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	mark(t, append(flags(masters), patient...)...)
	moving := startRelay(t, masters[2].Addr)
	p := launch(t, ProxyOptions{Args: append(append(flags(masters[:2]), patient...), "--master", "redis://"+moving.Addr+"?name="+masters[2].Addr)})
	awaitVoting(t, p, 3)
	moving.Lead(masters[0].Addr)
	moving.Cut()
	moving.Restore()
	awaitVoting(t, p, 2)
	c := dial(t, p.Addr)
	cycle(c, "k")
	must(t, masters[1].Kill())
	awaitVoting(t, p, 1)
	c.wantNoQuorum(acquireArgs("k", "t", ttl)...)
	always(t, 500*time.Millisecond, func() error {
		if n := voting(t, p); n > 1 {
			return fmt.Errorf("%d masters vote, and one is there", n)
		}
		return nil
	})
}
