package engine

import (
	"slices"
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
