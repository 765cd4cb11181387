package integration

import (
	"fmt"
	"testing"
	"time"
)

func TestExtendProlongsTheLockOnAllMasters(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	const short = 10 * time.Second
	c.lock("k", "t", short)
	c.want(1, extendArgs("k", "t", 5*ttl)...)
	eventually(t, func() error {
		for i, m := range masters {
			if left := pttl(t, m, "k"); left < 2*short {
				return fmt.Errorf("master %d keeps it for %v", i, left)
			}
		}
		return nil
	})
	c.want(0, extendArgs("k", "other", ttl)...)
	c.want(0, extendArgs("none", "t", ttl)...)
}

func TestExtendGivesTheKeyAgainToAMasterThatLostIt(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i := range 10 {
		key := fmt.Sprint("k", i)
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		direct(t, masters[i%3]).want(1, "DEL", key)
		began := time.Now()
		c.want(1, extendArgs(key, "t", 20*time.Second)...)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		left := pttl(t, masters[i%3], key)
		if left < 20*time.Second-time.Since(began) || left > 20202*time.Millisecond {
			t.Fatalf("the key that was given again lives for %v", left)
		}
	}
}

// TestExtendGivesNothingToAMasterThatHoldsAnother: it said no for a reason.
func TestExtendGivesNothingToAMasterThatHoldsAnother(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	direct(t, masters[2]).want("OK", "SET", "k", "other", "PX", "90000")
	c.lock("k", "t", ttl)
	c.want(1, extendArgs("k", "t", ttl)...)
	always(t, 100*time.Millisecond, func() error {
		if got := ask(t, masters[2], "GET", "k"); got != "other" {
			return fmt.Errorf("master 2 holds %v", got)
		}
		return nil
	})
}

func TestExtendOfALostLockIsNo(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	wantHolding(t, masters, "k", "t", 0, 1, 2)
	direct(t, masters[0]).want(1, "DEL", "k")
	direct(t, masters[1]).want(1, "DEL", "k")
	c.want(0, extendArgs("k", "t", ttl)...)
	always(t, 100*time.Millisecond, func() error {
		if ask(t, masters[0], "EXISTS", "k") != int64(0) || ask(t, masters[1], "EXISTS", "k") != int64(0) {
			return fmt.Errorf("a lost lock came back")
		}
		return nil
	})
}

func TestExtendWithoutAQuorumIsNoQuorum(t *testing.T) {
	masters, p := startQuorum(t, 3, brisk...)
	c := dial(t, p.Addr)
	c.lock("k", "t", ttl)
	must(t, masters[1].Freeze())
	must(t, masters[2].Freeze())
	took(t, time.Second, func() { c.wantNoQuorum(extendArgs("k", "t", ttl)...) })
	must(t, masters[1].Thaw())
	must(t, masters[2].Thaw())
}

func TestExtensionsEndAtMaxHold(t *testing.T) {
	t.Parallel()
	const hold, lease = 3 * time.Second, 1500 * time.Millisecond
	_, p := startQuorum(t, 3, "--max-hold", hold.String())
	c := dial(t, p.Addr)
	asked := time.Now()
	c.lock("k", "t", lease)
	won := time.Now()
	for extended := 0; ; extended++ {
		sent := time.Now()
		if c.do(extendArgs("k", "t", lease)...) != int64(1) {
			if told := time.Now(); extended == 0 || told.Before(asked.Add(hold-lease)) {
				t.Fatalf("refused %v after it was asked for, and extended %d times", told.Sub(asked), extended)
			}
			break
		}
		if sent.After(won.Add(hold - lease)) {
			t.Fatalf("extended %v after it was won", sent.Sub(won))
		}
		time.Sleep(50 * time.Millisecond)
	}
	// Whoever waits gets it once its ttl has run out.
	other := dial(t, p.Addr)
	eventually(t, func() error {
		if reply := other.do(acquireArgs("k", "next", ttl)...); reply != "OK" {
			return fmt.Errorf("got %v", reply)
		}
		return nil
	})
}
