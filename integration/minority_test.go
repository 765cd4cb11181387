package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// cycle takes, prolongs, reads and gives back a lock.
func cycle(c talk, key string) {
	c.t.Helper()
	c.lock(key, "t", ttl)
	c.refused(key, "other", ttl)
	c.want(1, extendArgs(key, "t", ttl)...)
	c.want("t", "GET", key)
	c.unlock(key, "t")
}

// medianCycles are how long a cycle takes here and there, of which as many are quicker as are
// slower. They take turns, so that the machine is the same for both.
func medianCycles(here, there talk, key string, cycles int) (_, _ time.Duration) {
	here.t.Helper()
	var took [2][]time.Duration
	for i := range cycles {
		for j, c := range []talk{here, there} {
			began := time.Now()
			cycle(c, fmt.Sprint(key, i))
			took[j] = append(took[j], time.Since(began))
		}
	}
	for _, list := range took {
		slices.Sort(list)
	}
	return took[0][cycles/2], took[1][cycles/2]
}

// TestLocksGoOnWithoutAnyMinority: whatever happens to a minority of the
// masters, locks are had at the same speed, what was held stays held, and the
// masters are used again within a second of their recovery.
func TestLocksGoOnWithoutAnyMinority(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		_, well := startQuorum(t, n)
		for _, trouble := range troubles {
			t.Run(fmt.Sprintf("%d of %d %s", (n-1)/2, n, trouble.name), func(t *testing.T) {
				testMinority(t, n, trouble, dial(t, well.Addr))
			})
		}
	}
}

func testMinority(t *testing.T, n int, trouble trouble, well talk) {
	masters := startMasters(t, n)
	relays := relayed(t, masters)
	p := startProxy(t, relayFlags(relays)...)
	c := dial(t, p.Addr)
	cycle(c, "before")
	c.lock("held", "t", ttl)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	wantHolding(t, masters, "held", "t", all...)

	for i := range (n - 1) / 2 {
		trouble.begin(t, masters[i], relays[i])
	}
	// A wait for anything but a quorum would be there in each of the cycles, and lasts for a
	// master-timeout, which is a second. What the machine does meanwhile is in some of them; and
	// where nobody else can answer, the last of a quorum has to, which a busy machine keeps waiting longer.
	const cycles = 20
	d, usual := medianCycles(c, well, "during", cycles)
	if most := usual + max(time.Second/2, usual); d > most {
		t.Errorf("a cycle takes %v, and %v where all masters are well", d, usual)
	}
	c.want("t", "GET", "held")
	c.refused("held", "other", ttl)

	for i := range (n - 1) / 2 {
		trouble.end(t, masters[i], relays[i])
	}
	back := time.Second
	if !trouble.keepsMemory {
		back += 2 * time.Second // an acquire-timeout: what was decided before must have fallen
	}
	took(t, back, func() { awaitVoting(t, p, n) })
	cycle(c, "after")
	if trouble.keepsMemory {
		for i := range cycles {
			if i > 0 || !trouble.unheard {
				wantGone(t, masters, fmt.Sprint("during", i))
			}
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
	masters := startMasters(t, 3)
	mark(t, append(flags(masters), brisk...)...)
	for _, m := range masters {
		must(t, m.Freeze())
	}
	p := launch(t, ProxyOptions{Args: append(flags(masters), brisk...), Unmarked: true}) // they are already
	c := dial(t, p.Addr)
	c.want("PONG", "PING")
	took(t, time.Second, func() { c.wantNoQuorum(acquireArgs("k", "t", ttl)...) })
	eventually(t, func() error { return logged(p, "every master has been tried: ready=false") })
	must(t, masters[0].Thaw())
	took(t, time.Second, func() { awaitVoting(t, p, 1) })
	c.wantNoQuorum(acquireArgs("k", "t", ttl)...)
	must(t, masters[1].Thaw())
	took(t, time.Second, func() { awaitVoting(t, p, 2) })
	cycle(c, "k")
	must(t, masters[2].Thaw())
	took(t, time.Second, func() { awaitVoting(t, p, 3) })
	cycle(c, "k")
}

// TestTroubleOfAMasterIsToldOnce: one line when it begins, one when it ends.
func TestTroubleOfAMasterIsToldOnce(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3) // there is nothing else to tell of them
	p := startProxy(t, flags(masters)...)
	c := dial(t, p.Addr)
	voted := func(times int) {
		t.Helper()
		eventually(t, func() error {
			if n := strings.Count(p.Log(), "master is voting: master="+masters[1].Addr); n != times {
				return fmt.Errorf("the log says %d times that it is voting, want %d", n, times)
			}
			return nil
		})
	}
	voted(1)
	before := len(p.Log())
	must(t, masters[1].Kill())
	awaitVoting(t, p, 2)
	for i := range 20 {
		cycle(c, fmt.Sprint("k", i))
	}
	time.Sleep(500 * time.Millisecond) // several attempts to reach it
	must(t, masters[1].Restart())
	awaitVoting(t, p, 3)
	voted(2)
	told := linesAbout(p.Log()[before:], masters[1].Addr)
	if strings.Contains(p.Log()[before:], "LOADING") {
		told-- // it was met while it read its log, which is another reason
	}
	if told < 2 || told > 3 {
		t.Errorf("%d lines about the master, want one for each change:\n%s", told, p.Log()[before:])
	}
}

// What keeps a master from writing is no error of the client's, and it is told.
func TestNoQuorumSaysWhyMastersDoNotCarryOutAScript(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	set := func(setting, value string) {
		t.Helper()
		for _, m := range masters {
			if got := ask(t, m, "CONFIG", "SET", setting, value); got != "OK" {
				t.Fatal(got)
			}
		}
	}
	// The third may answer before the second, which decides.
	says := func(why string, command ...string) {
		t.Helper()
		two := fmt.Sprintf("NOQUORUM 3 of 3 masters can vote, 2 are needed: 2 said %q", why)
		three := strings.Replace(two, "2 said", "3 said", 1)
		if got := fmt.Sprint(c.do(command...)); got != two && got != three {
			t.Errorf("%q is answered %q, want %q", command, got, two)
		}
	}
	c.want("OK", "SET", "held", "t", "NX", "PX", milliseconds(ttl))
	set("maxmemory", "1")
	for _, command := range [][]string{
		{"SET", "k", "v", "NX", "PX", milliseconds(ttl)},
		{"SET", "held", "v", "NX", "PX", milliseconds(ttl)},
		{"SET", "k", "v"},
		{"INCR", "n"},
		{"HSET", "h", "f", "v"},
		{"EVAL", `redis.call("hset", KEYS[1], ARGV[1], 1) return redis.call("pexpire", KEYS[1], ARGV[2])`, "1", "h", "t", milliseconds(ttl)},
		{"EVAL", `return redis.pcall("hset", KEYS[1], ARGV[1], 1)`, "1", "h", "t"},
	} {
		says("OOM command not allowed when used memory > 'maxmemory'", command...)
	}
	set("maxmemory", "0")
	for _, command := range [][]string{
		{"SET", "k", "v"},
		{"EVAL", `return redis.call("hset", KEYS[1], ARGV[1], 1)`, "1", "h", "t"},
	} {
		set("min-replicas-to-write", "1")
		// Such a master is down until it writes: the first may be so already.
		got := fmt.Sprint(c.do(command...))
		if !strings.HasPrefix(got, "NOQUORUM ") || !strings.Contains(got, ` said "NOREPLICAS Not enough good replicas to write"`) {
			t.Errorf("%q is answered %q", command, got)
		}
		// The third need not have been asked, as two have decided.
		eventually(t, func() error {
			if got := voting(t, p); got > 1 {
				return fmt.Errorf("%d masters vote, want none, or one", got)
			}
			return nil
		})
		set("min-replicas-to-write", "0")
		awaitVoting(t, p, 3)
	}
	c.want(int64(1), "INCR", "n")
}
