package integration

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestCommandsOfOneClientKeepTheirOrder(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	const rounds = 200
	for i := range rounds {
		token := fmt.Sprint("t", i)
		c.send(acquireArgs("k", token, ttl)...)
		c.send(acquireArgs("k", "other", ttl)...)
		c.send("GET", "k")
		c.send(releaseArgs("k", token)...)
		c.send("GET", "k")
	}
	for i := range rounds {
		c.receive("OK")
		c.receive(nil)
		c.receive(fmt.Sprint("t", i))
		c.receive(1)
		c.receive(nil)
	}
}

// TestOwnCommandsWaitBehindAnUndecidedAcquire: the acquire is split at first
// and won later; what its client asked for after it must find it won.
func TestOwnCommandsWaitBehindAnUndecidedAcquire(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--split-delay", "150ms", "--acquire-timeout", "2s")
	c := dial(t, p.Addr)
	must(t, masters[2].Kill())
	awaitVoting(t, p, 2)
	direct(t, masters[0]).want("OK", "SET", "k", "other", "PX", "60")
	c.send(acquireArgs("k", "t", ttl)...)
	c.send("GET", "k")
	c.send(releaseArgs("k", "t")...)
	c.send("EXISTS", "k")
	c.receive("OK")
	c.receive("t")
	c.receive(1)
	c.receive(0)
	wantGone(t, masters[:2], "k")
}

// TestTwoClientsOfOneProxyNeverSplitAVote: all masters see their commands on a
// key in one order, however unlike the ways there are.
func TestTwoClientsOfOneProxyNeverSplitAVote(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, relayFlags(relays)...)
	var taken []func() int
	for _, m := range masters {
		taken = append(taken, callsOn(t, m, "DEL", "k"))
	}
	relays[1].Requests.Delay(2 * time.Millisecond)
	relays[2].Replies.Delay(5 * time.Millisecond)

	const contenders, keys = 8, 60
	var won [keys]atomic.Int64
	var group sync.WaitGroup
	for i := range contenders {
		c := dial(t, p.Addr)
		group.Go(func() {
			for key := range keys {
				reply, err := c.Do(acquireArgs(fmt.Sprint("k", key), fmt.Sprint("t", i), ttl)...)
				switch {
				case err != nil:
					t.Error(err)
					return
				case reply == "OK":
					won[key].Add(1)
				case reply != nil:
					t.Errorf("key %d: got %v", key, reply)
				}
			}
		})
	}
	group.Wait()
	for key := range keys {
		if n := won[key].Load(); n != 1 {
			t.Errorf("key %d was won by %d clients, want 1", key, n)
		}
	}
	// A vote that was split would show as a key that was taken back.
	for i, count := range taken {
		if n := count(); n != 0 {
			t.Errorf("master %d carried out %d DELs, want none", i, n)
		}
	}
}

// TestPredecessorIsEndedOnReconnect: a release is stuck on its way to a master,
// which is given up and dialled anew. There the release is paid as a debt and
// the lock is taken again, under the same token. Then what was stuck arrives.
func TestPredecessorIsEndedOnReconnect(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relay := startRelay(t, masters[2].Addr)
	p := startProxy(t, append(flags(masters[:2]), "--master", relay.Addr)...)
	c := dial(t, p.Addr)
	c.lockTogether(masters, "k", "t")

	stuck := relay.Strand()
	c.unlock("k", "t")
	wantGone(t, masters[:2], "k")
	wantGone(t, masters, "k")
	awaitVoting(t, p, 3)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	stuck.Release()
	always(t, 300*time.Millisecond, func() error {
		if got := ask(t, masters[2], "GET", "k"); got != "t" {
			return fmt.Errorf("the old connection's release was carried out: %v", got)
		}
		return nil
	})
}
