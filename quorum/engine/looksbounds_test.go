package engine

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
)

// forbids has the master not let the proxy's user touch keys that begin so.
func (m *fakeMaster) forbids(prefix string) {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if strings.HasPrefix(args[0], "EVAL") && slices.ContainsFunc(args[3:3+keysOf(args)], func(key string) bool { return strings.HasPrefix(key, prefix) }) {
				return "-NOPERM No permissions to access a key\r\n"
			}
			return m.step(args)
		}
	})
}

func TestForbiddenKeyIsNotLookedAt(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.wantNumber(w.count("k"), 11)
		w.masters[2].forbids("k")
		w.wantNumber(w.count("k"), 12)
		asked := len(w.masters[0].commands("step k"))
		time.Sleep(time.Hour)
		if n := len(w.masters[0].commands("step k")) - asked; n > 0 {
			t.Errorf("%d steps were asked for by nobody", n)
		}
	})
}

// Who refuses for a while is looked at some more times.
func TestMasterThatHasRefusedIsMended(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.wantNumber(w.count("k"), 11)
		w.masters[2].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if strings.HasPrefix(args[0], "EVAL") && slices.Contains(args[3:3+keysOf(args)], "k") {
					return "-OOM command not allowed when used memory > 'maxmemory'\r\n"
				}
				return m.step(args)
			}
		})
		w.wantNumber(w.count("k"), 12)
		time.Sleep(10 * time.Second)
		w.wantValues("k", "12", "12", "11")
		w.masters[2].set(func(m *fakeMaster) { m.respond = m.step })
		time.Sleep(2 * time.Minute)
		w.wantValues("k", "12", "12", "12")
	})
}

// Forbidden keys cost those who ask for them: others of their tag are mended, and those whose master was away.
func TestForbiddenKeysLeaveRoomForOthers(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.quiet = true }) }, 1, 2, 3)
		w.putAll("{t}a", "10", "10", "10")
		w.putAll("z", "10", "10", "10")
		w.wantNumber(w.count("{t}a"), 11)
		w.wantNumber(w.count("z"), 11)
		w.masters[2].forbids("{t}b")
		for i := range 100 {
			w.wantNumber(w.count(fmt.Sprint("{t}b", i)), 1)
		}
		w.settle()
		w.each(func(m *fakeMaster) { m.latch("{t}a", 100*ms) }, 3)
		w.wantNumber(w.count("{t}a"), 12)
		w.down(2)
		w.wantNumber(w.count("z"), 12)
		w.up(2)
		time.Sleep(2 * time.Minute)
		w.wantValues("{t}a", "12", "12", "12")
		w.wantValues("z", "12", "12", "12")
		w.engine.zero.mendings.mu.Lock()
		defer w.engine.zero.mendings.mu.Unlock()
		if n := len(w.engine.zero.mendings.tags); n > 0 {
			t.Errorf("%d looks wait", n)
		}
	})
}

// While one of five is away for long another one is left behind, now and then.
func TestWhoIsLeftBehindIsLookedAtThoughAnotherIsAwayForLong(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.knowsSteps()
		w.putAll("k", "10", "10", "10", "10", "10")
		w.wantNumber(w.count("k"), 11)
		w.down(5)
		for n := int64(12); n < 16; n++ {
			w.each(func(m *fakeMaster) { m.latch("k", 40*time.Second) }, 4)
			w.wantNumber(w.count("k"), n)
			time.Sleep(10 * time.Minute)
			v := fmt.Sprint(n)
			w.wantValues("k", v, v, v, v, "11")
		}
	})
}

// keepsNobodyOut tells that each who counts one further is served, however many ask.
func (w *world) keepsNobodyOut(key string, long time.Duration) {
	w.t.Helper()
	var all sync.WaitGroup
	for began := time.Now(); time.Since(began) < long; time.Sleep(7 * ms) {
		a, put := w.stepOn(countStep, key), time.Since(began)
		all.Go(func() {
			if r := <-a.answers; r.Decision != quorum.Won {
				w.t.Errorf("what was asked for after %v came to %v: %v", put, r.Decision, r.Why)
			}
		})
	}
	all.Wait()
}

// Two of three masters are near, and the third is late by as much as it may be, or by more. What is unlike there is looked at.
func TestLooksAtALateMasterKeepNobodyOut(t *testing.T) {
	for _, late := range []time.Duration{100 * ms, 200 * ms, 400 * ms} {
		inWorldOfSteps(t, func(w *world) {
			w.putAll("k", "10", "10", "10")
			w.wantNumber(w.count("k"), 11)
			w.settle()
			w.each(func(m *fakeMaster) { m.latch("k", 100*ms) }, 3)
			w.wantNumber(w.count("k"), 12)
			w.masters[2].set(func(m *fakeMaster) { m.delay = late })
			w.keepsNobodyOut("k", 20*time.Second)
			time.Sleep(30 * time.Minute)
			asked := len(w.masters[0].commands("step k"))
			time.Sleep(30 * time.Minute)
			if n := len(w.masters[0].commands("step k")) - asked; n > 0 {
				t.Errorf("where master 3 is late by %v, %d steps were asked for by nobody", late, n)
			}
		})
	}
}

// A master that is late comes back, and many keys of one tag are looked at.
func TestLooksAtManyKeysOfATagKeepNobodyOut(t *testing.T) {
	for _, late := range []time.Duration{30 * ms, 60 * ms, 120 * ms} {
		inWorldOfSteps(t, func(w *world) {
			for i := range 100 {
				w.count(fmt.Sprint("{t}", i))
			}
			w.down(3)
			for i := range 100 {
				w.count(fmt.Sprint("{t}", i))
			}
			w.masters[2].set(func(m *fakeMaster) { m.delay = late })
			w.up(3)
			w.keepsNobodyOut("{t}", 20*time.Second)
		})
	}
}

// Who is there, and has not told at any look, is not looked at for ever; who is away is waited for.
func TestLooksAtWhoNeverTellsEnd(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.down(3)
		w.settle()
		look := func(missed lanes, tries int) *mending {
			return &mending{db: w.engine.zero, keys: []string{"k"}, looked: 1, missed: missed, tries: tries}
		}
		for _, c := range []struct {
			m       *mending
			n       int
			over    bool
			waiting lanes
		}{
			{look(1, mendingTries-1), 1, false, 0},
			{look(1, mendingTries), 0, true, 0},
			{look(1|1<<2, mendingTries), 0, false, 1 << 2},
			{look(1<<2, 0), 0, false, 1 << 2},
		} {
			if keys, over := c.m.begin(); len(keys) != c.n || over != c.over || c.m.missed != c.waiting {
				t.Errorf("%q are looked at, over: %t, and %b waited for; want %+v", keys, over, c.m.missed, c)
			}
		}
	})
}

// However long keys' names are, what is remembered of looks is bounded.
func TestLooksTakeLittleMemory(t *testing.T) {
	var s mendings
	for i := range 100 {
		s.add(nil, []string{fmt.Sprint(i, strings.Repeat("x", 1<<20)), "short"}, 2, maxMendings)
	}
	if m := s.tags[mendingPlace{tag: "short"}]; len(s.tags) != 1 || m == nil || !slices.Equal(m.keys, []string{"short"}) {
		t.Errorf("%d looks wait, and that for the short key is %+v", len(s.tags), m)
	}
}

// An element is put back on one master, whose link is lost before it is taken back there, while the others are busy; and then
// on another one: each request tells of that, though it was tried again.
func TestWhatIsPutBackIsNotThereTwice(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 1)
		w.settle()
		unsure := uint16(0)
		for _, n := range []int{2, 1} {
			lost := w.masters[n]
			for i, m := range w.masters {
				if i != n {
					m.latch("l", 300*ms)
				}
			}
			lost.set(func(m *fakeMaster) { m.delay = 3 * ms })
			time.AfterFunc(ms, lost.cut)
			r := <-w.put(quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}, Args: []string{"x"}, GivesBack: true}).answers
			if unsure |= mayHave(r); mayHave(r)>>n&1 == 0 {
				t.Errorf("master %d has it, and is not among those that may (%b)", n+1, mayHave(r))
			}
			lost.set(func(m *fakeMaster) { m.delay = 0 })
			w.up(n + 1)
		}
		if bits.OnesCount16(unsure) < 2 {
			t.Errorf("a quorum may have it, and %b are told", unsure)
		}
	})
}

// Who has not voted yet when what is given back can be no more than lost tells soon that he was busy, too: then nobody has it.
func TestWhatIsGivenBackWaitsForWhoIsLate(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 1)
		w.settle()
		w.each(func(m *fakeMaster) { m.latch("l", time.Second) }, 1, 2, 3)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 40 * ms })
		r := <-w.put(quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}, Args: []string{"x"}, GivesBack: true}).answers
		if r.Decision != quorum.Split || mayHave(r) != 0 {
			t.Errorf("it came to %v, and %b may have done it", r.Decision, mayHave(r))
		}
	})
}

// A client pops once, and is told of one element: no other is gone by that, though each master but one was busy, and that
// one's link was lost, and then another's.
func TestOnePopTakesOneElement(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.knowsSteps()
		for _, e := range []string{"a", "b", "c"} {
			w.stepOn(pushStep, "l", e).wait(t)
		}
		w.settle()
		busyBut := func(n int) {
			for i, m := range w.masters {
				if m.forget(journal.Latch("l")); i != n {
					m.latch("l", time.Minute)
				}
			}
			w.masters[n].set(func(m *fakeMaster) { m.delay = 3 * ms })
		}
		busyBut(2)
		a := w.stepOn(popStep, "l")
		for _, n := range []int{2, 1} {
			m := w.masters[n]
			for range 2000 {
				if len(m.elements("l")) < 3 {
					break
				}
				time.Sleep(ms)
			}
			m.cut()
			m.latch("l", time.Minute)
			m.set(func(m *fakeMaster) { m.delay = 0 })
			m.rejoin()
			time.Sleep(w.cfg.ProbeInterval)
			if n == 2 {
				busyBut(1)
			}
		}
		for _, m := range w.masters {
			m.forget(journal.Latch("l"))
		}
		if r := <-a.answers; r.Decision == quorum.Won && r.Script.Str != "a" {
			t.Errorf("the first element was a, and it is told %q", r.Script.Str)
		}
	}, func(c *Config) { c.AcquireTimeout = 10 * time.Second; c.MasterTimeout = 20 * time.Second })
}
