package integration

import (
	"strings"
	"testing"
	"time"
)

// TestWriteNeedsAQuorumOfEqualOutcomes: what only a minority of the masters
// says is not what the client hears.
func TestWriteNeedsAQuorumOfEqualOutcomes(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "v")
	c.want("OK", "SET", "k", "w", "XX", "PX", milliseconds(ttl))
	c.want("w", "GET", "k")
	c.want(nil, "SET", "none", "v", "XX")
	c.want("w", "SET", "k", "x", "GET")
	c.want(1, "PEXPIRE", "k", "30000")
	c.want(1, "PERSIST", "k")
	c.want(0, "PERSIST", "k")
	c.want(-1, "PTTL", "k")
	c.want(0, "EXPIRE", "none", "10")

	wantHolding(t, masters, "k", "x", 0, 1, 2)
	direct(t, masters[0]).want(1, "DEL", "k")
	c.want("OK", "SET", "k", "y", "XX")
	wantHolding(t, masters, "k", "y", 1, 2)
	direct(t, masters[1]).want(1, "DEL", "k")
	c.want(nil, "SET", "k", "z", "XX")
}

func TestWriteWithoutAQuorumIsNoQuorum(t *testing.T) {
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	must(t, masters[1].Kill())
	awaitVoting(t, p, 2)
	c.want("OK", "SET", "k", "v")
	must(t, masters[2].Kill())
	awaitVoting(t, p, 1)
	took(t, time.Second, func() { c.wantNoQuorum("SET", "k", "w") })
	took(t, time.Second, func() { c.wantNoQuorum("PEXPIRE", "k", "30000") })
}

func TestKeyOfAnotherTypeIsSaidToBe(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, m := range masters[:2] {
		direct(t, m).want(1, "HSET", "h", "f", "v")
	}
	c.want("hash", "TYPE", "h")
	c.want(1, "EXISTS", "h")
	for _, command := range [][]string{{"GET", "h"}, {"STRLEN", "h"}, releaseArgs("h", "t"), extendArgs("h", "t", ttl)} {
		reply, ok := c.do(command...).(Failure)
		if !ok || !strings.Contains(string(reply), "Operation against a key holding the wrong kind of value") {
			t.Errorf("%q: got %v", command, reply)
		}
	}
	c.refused("h", "t", ttl)
}

// TestNoCommandIsSentTwice: a master carried out an acquire and its answer was
// lost. A retry below the client would meet itself, and be refused.
func TestNoCommandIsSentTwice(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relay := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(append(flags(masters[:2]), "--master", relay.Addr), unhurried...)...)
	c := dial(t, p.Addr)
	sets := callsOn(t, masters[2], "SET", "k")
	relay.Replies.Hold()
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	relay.Cut()
	relay.Replies.Release()
	awaitVoting(t, p, 2)
	relay.Restore()
	awaitVoting(t, p, 3)
	c.want("t", "GET", "k")
	time.Sleep(100 * time.Millisecond)
	if n := sets(); n != 1 {
		t.Fatalf("master 2 carried out %d SETs, want 1", n)
	}
}
