package integration

import (
	"fmt"
	"testing"
	"time"
)

// TestReleaseOutlivesItsClient: the connection is reset the moment the release
// was sent.
func TestReleaseOutlivesItsClient(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, relayFlags(relays)...)
	looker := dial(t, p.Addr)
	for i := range 5 {
		key := fmt.Sprint("k", i)
		c := dial(t, p.Addr)
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		eventually(t, func() error { return told(looker, "in_flight:0\r\n") })
		for _, r := range relays {
			r.Requests.Hold()
		}
		c.send(releaseArgs(key, "t")...)
		// Wait until it is under way: a reset may also destroy what is in the
		// kernel's buffer, and then nobody asked.
		eventually(t, func() error { return told(looker, "in_flight:1\r\n") })
		reset(t, c.Conn)
		for _, r := range relays {
			r.Requests.Release()
		}
		wantGone(t, masters, key)
	}
}

func TestReleaseByAStrangerIsRefused(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	c.want(0, releaseArgs("k", "other")...)
	c.want(0, releaseArgs("none", "t")...)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
}

// TestReleaseGoesToMastersThatRefused: what they hold now may be the lock.
func TestReleaseGoesToMastersThatRefused(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	m2 := direct(t, masters[2])
	m2.want("OK", "SET", "k", "other")
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1)
	m2.want("OK", "SET", "k", "t", "PX", milliseconds(ttl))
	c.unlock("k", "t")
	wantGone(t, masters, "k")
}

// TestReleaseLeavesAnotherTokenAlone: a quorum deleted, the third holds what
// somebody else put there.
func TestReleaseLeavesAnotherTokenAlone(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	direct(t, masters[2]).want("OK", "SET", "k", "other")
	c.lock("k", "t", ttl)
	c.unlock("k", "t")
	wantGone(t, masters[:2], "k")
	always(t, 100*time.Millisecond, func() error {
		if got := ask(t, masters[2], "GET", "k"); got != "other" {
			return fmt.Errorf("somebody else's key is %v", got)
		}
		return nil
	})
}

func TestReleaseOfALostLockIsNo(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	direct(t, masters[0]).want(1, "DEL", "k")
	direct(t, masters[1]).want(1, "DEL", "k")
	c.want(0, releaseArgs("k", "t")...)
	wantGone(t, masters, "k")
}

// TestReleaseThatNobodyHeardIsNoQuorum, and is asked for again: nothing is owed where no
// master has told how long the lock lives.
func TestReleaseThatNobodyHeardIsNoQuorum(t *testing.T) {
	masters, p := startQuorum(t, 3, brisk...)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	for _, m := range masters {
		must(t, m.Freeze())
	}
	took(t, time.Second, func() { c.wantNoQuorum(releaseArgs("k", "t")...) })
	for _, m := range masters {
		must(t, m.Thaw())
	}
	awaitVoting(t, p, 3)
	if reply := c.do(releaseArgs("k", "t")...); reply != int64(0) && reply != int64(1) { // as it was carried out late, or not
		t.Fatalf("asked for again it is answered %v", reply)
	}
	wantGone(t, masters, "k")
}

// TestDeleteReleasesWhatTheQuorumHolds: DEL and UNLINK count as a release, and
// count each key once however many masters had it.
func TestDeleteReleasesWhatTheQuorumHolds(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, command := range []string{"DEL", "UNLINK"} {
		c.lock("a", "t", ttl)
		c.lock("b", "t", ttl)
		c.want(2, command, "a", "b", "none")
		wantGone(t, masters, "a")
		wantGone(t, masters, "b")
	}
	direct(t, masters[0]).want("OK", "SET", "leftover", "t")
	c.want(0, "DEL", "leftover")
	wantGone(t, masters, "leftover")
}
