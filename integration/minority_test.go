package integration

import (
	"fmt"
	"testing"
	"time"
)

// trouble is one way in which a master fails, and how it recovers.
type trouble struct {
	name        string
	begin, end  func(t *testing.T, m *Redis, r *Relay)
	keepsMemory bool // what it held is still there when the trouble ends
}

var troubles = []trouble{
	{
		name:  "killed",
		begin: func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Kill()) },
		end:   func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Restart()) },
	},
	{
		name:        "frozen",
		begin:       func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Freeze()) },
		end:         func(t *testing.T, m *Redis, _ *Relay) { must(t, m.Thaw()) },
		keepsMemory: true,
	},
	{
		name:        "cut off",
		begin:       func(_ *testing.T, _ *Redis, r *Relay) { r.Cut() },
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Restore() },
		keepsMemory: true,
	},
	{
		name:        "silent",
		begin:       func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Hold() },
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Release() },
		keepsMemory: true,
	},
	{
		name:        "late",
		begin:       func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Delay(150 * time.Millisecond) },
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Delay(0) },
		keepsMemory: true,
	},
	{
		name: "asking for a password",
		begin: func(t *testing.T, m *Redis, _ *Relay) {
			c := direct(t, m)
			c.want("OK", "CONFIG", "SET", "requirepass", "changed")
			m.Options.Password = "changed"
			c.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		},
		end: func(t *testing.T, m *Redis, _ *Relay) {
			direct(t, m).want("OK", "CONFIG", "SET", "requirepass", "")
			m.Options.Password = ""
		},
		keepsMemory: true,
	},
	{
		name:        "out of memory",
		begin:       func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "CONFIG", "SET", "maxmemory", "1") },
		end:         func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "CONFIG", "SET", "maxmemory", "0") },
		keepsMemory: true,
	},
	{
		name:  "made a replica",
		begin: func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "REPLICAOF", "127.0.0.1", "1") },
		end:   func(t *testing.T, m *Redis, _ *Relay) { direct(t, m).want("OK", "REPLICAOF", "NO", "ONE") },
		// Without a link to follow, it keeps what it has.
		keepsMemory: true,
	},
	{
		name: "answering garbage",
		begin: func(_ *testing.T, _ *Redis, r *Relay) {
			r.Replies.Rewrite(func(b []byte) []byte {
				for i := range b {
					b[i] ^= 0x15
				}
				return b
			})
		},
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Rewrite(nil) },
		keepsMemory: true,
	},
	{
		name: "saying that it loads",
		begin: func(_ *testing.T, _ *Redis, r *Relay) {
			r.Replies.Rewrite(func([]byte) []byte {
				return []byte("-LOADING Redis is loading the dataset in memory\r\n")
			})
		},
		end:         func(_ *testing.T, _ *Redis, r *Relay) { r.Replies.Rewrite(nil) },
		keepsMemory: true,
	},
}

// cycle takes, prolongs, reads and gives back a lock.
func cycle(c talk, key string) {
	c.t.Helper()
	c.lock(key, "t", ttl)
	c.refused(key, "other", ttl)
	c.want(1, extendArgs(key, "t", ttl)...)
	c.want("t", "GET", key)
	c.unlock(key, "t")
}

// TestLocksGoOnWithoutAnyMinority: whatever happens to a minority of the
// masters, locks are had at the same speed, what was held stays held, and the
// masters are used again within a second of their recovery.
func TestLocksGoOnWithoutAnyMinority(t *testing.T) {
	for _, n := range []int{3, 5} {
		for _, trouble := range troubles {
			t.Run(fmt.Sprintf("%d of %d %s", (n-1)/2, n, trouble.name), func(t *testing.T) {
				testMinority(t, n, trouble)
			})
		}
	}
}

func testMinority(t *testing.T, n int, trouble trouble) {
	masters := startMasters(t, n)
	relays := relayed(t, masters)
	p := startProxy(t, relayFlags(relays)...)
	c := dial(t, p.Addr)
	const cycles = 20
	start := time.Now()
	for i := range cycles {
		cycle(c, fmt.Sprint("before", i))
	}
	usual := time.Since(start)
	c.lock("held", "t", ttl)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	wantHolding(t, masters, "held", "t", all...)

	for i := range (n - 1) / 2 {
		trouble.begin(t, masters[i], relays[i])
	}
	start = time.Now()
	for i := range cycles {
		cycle(c, fmt.Sprint("during", i))
	}
	// A wait for anything but a quorum would be there in each of the cycles.
	if d := time.Since(start); d > usual+time.Second {
		t.Errorf("%d cycles took %v, and %v before the trouble", cycles, d, usual)
	}
	c.want("t", "GET", "held")
	c.refused("held", "other", ttl)

	for i := range (n - 1) / 2 {
		trouble.end(t, masters[i], relays[i])
	}
	back := time.Second
	if !trouble.keepsMemory {
		back = 4 * time.Second // what was decided before must have fallen, in 2 s here, and then it catches up
	}
	took(t, back, func() { awaitVoting(t, p, n) })
	cycle(c, "after")
	if trouble.keepsMemory {
		for i := range cycles {
			wantGone(t, masters, fmt.Sprint("during", i))
		}
		wantHolding(t, masters, "held", "t", all...)
	}
	// Those that were in trouble are needed now: with them there is a quorum.
	for i := n - (n-1)/2; i < n; i++ {
		must(t, masters[i].Kill())
	}
	cycle(c, "needed")
}

// TestMasterThatWasDownAtStartIsUsedOnceItIsUp: the proxy does not wait for masters.
func TestMasterThatWasDownAtStartIsUsedOnceItIsUp(t *testing.T) {
	masters := durableMasters(t, 3)
	mark(t, flags(masters)...)
	for _, m := range masters {
		must(t, m.Kill())
	}
	p := launch(t, ProxyOptions{Args: flags(masters)})
	c := dial(t, p.Addr)
	c.want("PONG", "PING")
	took(t, time.Second, func() { c.wantNoQuorum(acquireArgs("k", "t", ttl)...) })
	must(t, masters[0].Restart())
	took(t, time.Second, func() { awaitVoting(t, p, 1) })
	c.wantNoQuorum(acquireArgs("k", "t", ttl)...)
	must(t, masters[1].Restart())
	took(t, time.Second, func() { awaitVoting(t, p, 2) })
	cycle(c, "k")
	must(t, masters[2].Restart())
	took(t, time.Second, func() { awaitVoting(t, p, 3) })
	cycle(c, "k")
}

// TestTroubleOfAMasterIsToldOnce: one line when it begins, one when it ends.
func TestTroubleOfAMasterIsToldOnce(t *testing.T) {
	masters := durableMasters(t, 3) // there is nothing else to tell of them
	p := startProxy(t, flags(masters)...)
	c := dial(t, p.Addr)
	before := len(p.Log())
	must(t, masters[1].Kill())
	awaitVoting(t, p, 2)
	for i := range 20 {
		cycle(c, fmt.Sprint("k", i))
	}
	time.Sleep(500 * time.Millisecond) // several attempts to reach it
	must(t, masters[1].Restart())
	awaitVoting(t, p, 3)
	told := linesAbout(p.Log()[before:], masters[1].Addr)
	if told < 2 || told > 3 {
		t.Errorf("%d lines about the master, want one for each change:\n%s", told, p.Log()[before:])
	}
}
