package engine

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestStepsOfOneProxyTakeTurns(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.masters[2].set(func(m *fakeMaster) { m.lag = 3 * ms }) // is always behind
		var waiters []*waiter
		for range 20 {
			waiters = append(waiters, w.stepOn(countStep, "k"))
		}
		for n, a := range waiters {
			w.wantNumber(a.wait(t), int64(n+1))
		}
		w.settle()
		time.Sleep(time.Second)
		w.wantValues("k", "20", "20", "20")
		w.wantFree("k")
		for _, m := range w.masters {
			if busy := m.commands("busy"); len(busy) > 0 {
				t.Errorf("%s: %q", m.name, busy)
			}
		}
	})
}

// A step on two keys waits for those on either, and those behind it for it.
func TestStepOnSeveralKeysTakesItsTurnOnEach(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 1, 2, 3)
		var mu sync.Mutex
		var order []string
		put := func(name string, keys ...string) *waiter {
			a := &chained{newWaiter(), func(quorum.Result) {
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
			}}
			w.engine.Put(&quorum.Request{Kind: quorum.Run, Script: countStep, Key: keys[0], Keys: keys}, a)
			return a.waiter
		}
		var waiters []*waiter
		waiters = append(waiters, put("a", "a"), put("b1", "b"), put("b2", "b"), put("ab", "b", "a", "b"), put("a2", "a"), put("c", "c"))
		for _, a := range waiters {
			a.wait(t)
		}
		at := func(name string) int { return slices.Index(order, name) }
		if at("ab") < at("a") || at("ab") < at("b2") || at("b2") < at("b1") || at("a2") < at("ab") || at("c") > at("ab") {
			t.Errorf("the order is %v", order)
		}
		time.Sleep(w.cfg.AcquireTimeout)
		if n := len(w.engine.zero.turns.lines); n != 0 {
			t.Errorf("%d lines are left", n)
		}
	})
}

func TestTurnThatDoesNotComeIsGivenUp(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each((*fakeMaster).freeze, 1, 2, 3)
		began := time.Now()
		var waiters []*waiter
		for range 100 {
			waiters = append(waiters, w.stepOn(countStep, "k"))
		}
		for _, a := range waiters {
			w.want(a.wait(t), quorum.Unavailable)
		}
		if waited := time.Since(began); waited > 2*w.cfg.AcquireTimeout {
			t.Errorf("it took %v", waited)
		}
		w.each((*fakeMaster).unfreeze, 1, 2, 3)
		time.Sleep(5 * time.Second)
		w.want(w.count("k"), quorum.Won)
	})
}

// Who was kept waiting by others is not told that it was the masters; nor is the one whose turn came
// when there was little time left.
func TestTurnThatDoesNotComeIsNotTheMastersFault(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		// Some eight fit into the time, and the turn of the next comes when some is left that is too short.
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = w.cfg.AcquireTimeout * 2 / 17 }) }, 1, 2, 3)
		var waiters []*waiter
		for range 40 {
			waiters = append(waiters, w.stepOn(countStep, "k"))
		}
		won, short := 0, 0
		for n, a := range waiters {
			switch r := a.wait(t); {
			case r.Decision == quorum.Won && won == n:
				won++
			case r.Decision == quorum.Unavailable && r.Voted == 3 && r.Why == "its turn has not come in time":
			case r.Decision == quorum.Unavailable && r.Voted == 3 && n == won && strings.HasSuffix(r.Why, "ms left when its turn came"):
				short++
			default:
				t.Errorf("%d: %v, %d of %d can vote: %q", n, r.Decision, r.Voted, r.Masters, r.Why)
			}
		}
		if won == 0 || short == 0 {
			t.Errorf("%d were in time, and %d had a turn too late", won, short)
		}
	})
}

// Whoever is overdue leaves all his lines, and those who are first by that are called, unless
// another one is before them elsewhere.
func TestThoseBehindWhoeverIsOverdueAreCalled(t *testing.T) {
	start := time.Now()
	s := turns{lines: map[string]*line{}}
	put := func(after time.Duration, keys ...string) *turn {
		n := &turn{op: &op{began: start.Add(after)}, tags: keys}
		for _, key := range keys {
			if s.lines[key] == nil {
				s.lines[key] = new(line)
			}
			l := s.lines[key]
			if l.turns = append(l.turns, n); len(l.turns) > 1 {
				n.ahead++
			}
		}
		n.called = n.ahead == 0
		return n
	}
	underway := put(0, "a")
	late := put(0, "a", "b")
	free, behind, both := put(ms, "b"), put(ms, "a"), put(ms, "b", "c")
	over, next := s.expire(start.Add(ms), 0)
	if !slices.Equal(over, []*turn{late}) || !slices.Equal(next, []*turn{free}) || behind.called || both.called {
		t.Errorf("%d are overdue and %d called, want the one on two keys, and the one behind it on the key that is free", len(over), len(next))
	}
	if next := s.remove(underway, start); !slices.Equal(next, []*turn{behind}) {
		t.Errorf("%d are called on the other key", len(next))
	}
	if next := s.remove(free, start); !slices.Equal(next, []*turn{both}) {
		t.Errorf("%d are called behind that", len(next))
	}
}

// However many wait for one key, it takes no longer for each to find that they have waited too
// long, as others wait for the lock meanwhile: here some milliseconds in all, where looking for
// each among the others takes ten seconds.
func TestOverdueTurnsAreGoneThroughOnce(t *testing.T) {
	const n = 200_000
	o, keys := &op{began: time.Now()}, []string{"k"}
	l := &line{turns: []*turn{{op: o, tags: keys, called: true}}}
	for range n {
		l.turns = append(l.turns, &turn{op: o, tags: keys, ahead: 1})
	}
	s := turns{lines: map[string]*line{"k": l}}
	began := time.Now()
	over, next := s.expire(began.Add(time.Second), 0)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("%d turns take %v", n, took)
	}
	if len(over) != n || len(next) != 0 || len(l.turns) != 1 {
		t.Errorf("of %d, %d are overdue, %d called and %d left", n, len(over), len(next), len(l.turns)-1)
	}
}

// A proxy whose clients never pause lets another one have its turn.
func TestProxyGivesWayToAnother(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = ms }) }, 1, 2, 3)
		other := w.start(w.cfg)
		busy := w.engine
		var ends sync.WaitGroup
		until := time.Now().Add(2 * time.Second)
		for range 5 {
			ends.Go(func() {
				for time.Now().Before(until) {
					a := newWaiter()
					busy.Put(&quorum.Request{Kind: quorum.Run, Script: countStep, Key: "k", Keys: []string{"k"}}, a)
					if r := <-a.answers; r.Decision != quorum.Won {
						t.Errorf("the one that is there first: %v", r.Decision)
					}
				}
			})
		}
		w.engine = other
		n := 0
		for time.Now().Before(until) {
			if r := <-w.stepOn(countStep, "k").answers; r.Decision != quorum.Won {
				t.Errorf("the other, after %d: %v", n, r.Decision)
			}
			n++
		}
		ends.Wait()
		if n < 10 {
			t.Errorf("it had %d turns", n)
		}
	})
}
