package integration

import (
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"
)

// TestReleaseOwedToAFrozenMasterIsPaidOnReturn: the release was on its way when
// the master froze, or it was known by then that the master is away.
func TestReleaseOwedToAFrozenMasterIsPaidOnReturn(t *testing.T) {
	for name, release := range map[string][]string{
		"EVAL":   releaseArgs("k", "t"),
		"DEL":    {"DEL", "k"},
		"UNLINK": {"UNLINK", "k"},
	} {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, known to be away: %v", name, known), func(t *testing.T) {
				masters, p := startQuorum(t, 3)
				c := dial(t, p.Addr)
				c.lockTogether(masters, "k", "t")
				must(t, masters[2].Freeze())
				if known {
					awaitVoting(t, p, 2)
				}
				took(t, 500*time.Millisecond, func() { c.want(1, release...) })
				awaitVoting(t, p, 2)
				must(t, masters[2].Thaw())
				took(t, time.Second, func() { wantGone(t, masters, "k") })
			})
		}
	}
}

// TestReleaseIsOwedByAsManyAsAreAway: one master did it and the others may
// have. That is a yes, and they are reminded.
func TestReleaseIsOwedByAsManyAsAreAway(t *testing.T) {
	masters, p := startQuorum(t, 3, brisk...)
	c := dial(t, p.Addr)
	c.lockTogether(masters, "k", "t")
	must(t, masters[1].Freeze())
	must(t, masters[2].Freeze())
	awaitVoting(t, p, 1)
	took(t, time.Second, func() { c.unlock("k", "t") })
	must(t, masters[1].Thaw())
	must(t, masters[2].Thaw())
	wantGone(t, masters, "k")
}

// TestDebtsArePaidBeforeAMasterVotesAgain: the lock was released while a master
// was away, and whoever asks next must not be refused by it.
func TestDebtsArePaidBeforeAMasterVotesAgain(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	const keys = 200
	for i := range keys {
		c.lockTogether(masters, fmt.Sprint("k", i), "t")
	}
	must(t, masters[2].Freeze())
	for i := range keys {
		c.unlock(fmt.Sprint("k", i), "t")
	}
	awaitVoting(t, p, 2)
	must(t, masters[2].Thaw())
	awaitVoting(t, p, 3)
	// Only with the vote of master 2 is there a quorum now.
	must(t, masters[1].Freeze())
	for i := range keys {
		c.lock(fmt.Sprint("k", i), "t2", ttl)
	}
	must(t, masters[1].Thaw())
}

// TestDebtDoesNotTouchALaterLock: while a master could not be reached by us,
// another proxy took the lock again there, under the same token. What we owe
// is about the earlier one, which would have ended sooner.
func TestDebtDoesNotTouchALaterLock(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relay := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(flags(masters[:2]), "--master", relay.Addr)...)
	c := dial(t, p.Addr)
	for i, release := range [][]string{releaseArgs("k0", "t"), {"DEL", "k1"}} {
		key := fmt.Sprint("k", i)
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		relay.Cut()
		awaitVoting(t, p, 2)
		c.want(1, release...)
		direct(t, masters[2]).want("OK", "SET", key, "t", "PX", "90000")
		relay.Restore()
		awaitVoting(t, p, 3)
		always(t, 300*time.Millisecond, func() error {
			if got := ask(t, masters[2], "GET", key); got != "t" {
				return fmt.Errorf("the later lock is %v after %q", got, release)
			}
			return nil
		})
	}
}

// TestUndoOwedToALostMasterIsPaidOnReturn: an undo that cannot be delivered is owed
// like a release.
func TestUndoOwedToALostMasterIsPaidOnReturn(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relay := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(flags(masters[:2]), "--master", relay.Addr, "--split-retries", "0")...)
	c := dial(t, p.Addr)
	must(t, masters[1].Kill())
	awaitVoting(t, p, 2)
	// Master 2 has granted, and its connection is cut before the decision.
	must(t, masters[0].Freeze())
	looker := dial(t, p.Addr)
	granted := func() string {
		return regexp.MustCompile(`master2:.*granted=(\d+),`).FindStringSubmatch(looker.text("INFO", "quorum"))[1]
	}
	before := granted()
	c.send(acquireArgs("k", "t", ttl)...)
	eventually(t, func() error {
		if granted() == before {
			return errors.New("master 2 has not granted")
		}
		return nil
	})
	relay.Cut()
	if reply, err := c.Receive(); err != nil || reply == "OK" {
		t.Fatalf("got %v, %v", reply, err)
	}
	relay.Restore()
	wantGone(t, masters[2:], "k")
	must(t, masters[0].Thaw())
}
