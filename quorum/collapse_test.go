package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// acquirers puts an acquire of k for each of n clients.
func (w *world) acquirers(n int) (waiters []*waiter) {
	for i := range n {
		waiters = append(waiters, w.put(Request{Kind: Acquire, Key: "k", Token: fmt.Sprint("t", i), TTL: time.Minute}))
	}
	return waiters
}

func TestAcquiresOfAHeldLockShareOneAttempt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "holder", time.Minute), Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 10 * ms; m.log = nil }) }, 1, 2, 3)
		for _, a := range w.acquirers(100) {
			r := a.wait(t)
			if w.want(r, Contended); r.Value != "holder" {
				t.Errorf("told of %q", r.Value)
			}
		}
		for _, m := range w.masters {
			if n := len(m.commands("SET")); n != 2 {
				t.Errorf("%s saw %d attempts, want that of the first and one for all others", m.name, n)
			}
		}
		if s := w.engine.Status(); s.Shared != 98 || s.InFlight != 0 {
			t.Errorf("%d were shared, %d in flight", s.Shared, s.InFlight)
		}
	})
}

// A refusal that does not tell what is there is none for those who ask for it.
func TestSharedRefusalTellsTheValueToThoseWhoAskForIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "a", time.Minute)
		w.masters[1].put("k", "b", time.Minute)
		w.masters[2].put("k", "a", time.Minute)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 10 * ms }) }, 1, 2, 3)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 20 * ms })
		waiters := w.acquirers(3)
		tells := w.put(Request{Kind: Acquire, Key: "k", Token: "t", TTL: time.Minute, TellsValue: true})
		for _, a := range waiters {
			if r := a.wait(t); r.Decision != Contended || r.Exists {
				t.Errorf("%+v", r)
			}
		}
		if r := tells.wait(t); r.Decision != Contended || r.Value != "a" {
			t.Errorf("%+v", r)
		}
		if s := w.engine.Status(); s.InFlight != 0 {
			t.Errorf("%d are in flight", s.InFlight)
		}
	})
}

// The lock is free: the first wins, and what is shared is refused in favour of
// the one that leads it.
func TestSharedAttemptHasOneWinner(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 10 * ms }) }, 1, 2, 3)
		waiters := w.acquirers(20)
		w.want(waiters[0].wait(t), Won)
		for _, a := range waiters[1:] {
			r := a.wait(t)
			if w.want(r, Contended); r.Value != "t0" {
				t.Errorf("told of %q", r.Value)
			}
		}
		w.settle()
		w.wantValues("k", "t0", "t0", "t0")

		// Released while an attempt is in flight: the next in line gets it, and
		// those who share with it hear of its token.
		waiters = w.acquirers(5)
		released := w.put(Request{Kind: Release, Key: "k", Token: "t0"})
		w.want(waiters[0].wait(t), Contended)
		w.want(released.wait(t), Won)
		w.want(waiters[1].wait(t), Won)
		for _, a := range waiters[2:] {
			r := a.wait(t)
			if w.want(r, Contended); r.Value != "t1" {
				t.Errorf("told of %q", r.Value)
			}
		}
	})
}

// Who asks before an attempt is made once more shares it.
func TestAttemptIsSharedByAllWhoAskedBeforeIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.masters[0].put("k", "other", time.Minute)
		first := w.put(Request{Kind: Acquire, Key: "k", Token: "t", TTL: time.Minute})
		time.Sleep(ms) // it is split, and waits to be tried again
		waiters := w.acquirers(10)
		w.want(first.wait(t), Split)
		for _, a := range waiters {
			w.want(a.wait(t), Split)
		}
		if n := len(w.masters[0].commands("SET")); n != 1+w.cfg.SplitRetries {
			t.Errorf("there were %d attempts, want those of the first", n)
		}
	})
}

// That too few masters could vote is nobody's answer but the asker's own.
func TestUnavailableIsNotShared(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(1)
		for _, m := range w.masters[1:] {
			m.freeze()
		}
		waiters := w.acquirers(3)
		w.want(waiters[0].wait(t), Unavailable)
		w.masters[1].unfreeze()
		w.masters[2].unfreeze()
		time.Sleep(time.Second)
		r1, r2 := waiters[1].wait(t), waiters[2].wait(t)
		if r1.Decision == Contended && r2.Decision == Contended {
			t.Errorf("%v, %v: nobody was answered for itself", r1.Decision, r2.Decision)
		}
		if n := w.engine.Status().InFlight; n != 0 {
			t.Errorf("%d are in flight", n)
		}
	})
	// With all masters down a long line is answered, each for itself.
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.freeze() }, 1, 2, 3)
		waiters := w.acquirers(5000)
		w.each(func(m *fakeMaster) { m.unfreeze(); m.cut() }, 1, 2, 3)
		for _, a := range waiters {
			w.want(a.wait(t), Unavailable)
		}
	})
}

func TestCloseAnswersThoseWhoWait(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.freeze() }, 1, 2, 3)
		waiters := w.acquirers(50)
		w.stop(w.engine)
		for _, a := range waiters {
			w.want(<-a.answers, Unavailable)
		}
	})
}

// However long the line, nobody in it waits longer than a decision may take.
func TestLineBehindSlowMastersIsAnsweredInTime(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 400 * ms }) }, 1, 2, 3)
		began := time.Now()
		for _, a := range w.acquirers(200) {
			w.want(a.wait(t), Unavailable)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// What an acquire in flight has set may be taken back, and is nobody else's: tokens may
// be constants.
func TestExtendWaitsForTheAcquireOfItsToken(t *testing.T) {
	for name, extend := range map[string]Request{
		"extend": {Kind: Extend, Key: "k", Token: "1", TTL: 9 * time.Second},
		"script": {Kind: Run, Key: "k", Keys: []string{"k"}, Args: []string{"1", "2"}, Script: setStep},
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.masters[0].put("k", "1", 10*time.Second)
				w.masters[1].put("k", "1", 10*time.Second)
				w.each((*fakeMaster).freeze, 2)
				lost := w.put(Request{Kind: Acquire, Key: "k", Token: "1", TTL: 10 * time.Second})
				time.Sleep(50 * ms) // the third has granted it, and the first refused
				extended := w.put(extend)
				if r := extended.wait(t); r.Decision == Won {
					t.Errorf("%+v", r)
				}
				w.want(lost.wait(t), Split)
				w.settle()
				w.wantValues("k", "1", "1", "")
				if s := w.engine.Status(); s.InFlight != 0 {
					t.Errorf("%d are in flight", s.InFlight)
				}
			})
		})
	}
}

// Nor does an extension wait until a split acquire is tried again: its lock might have
// ended by then, and it would give its ttl to another's.
func TestExtendDoesNotWaitForAnotherAttempt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "1", 40*ms, 1, 2)
		split := w.put(Request{Kind: Acquire, Key: "k", Token: "1", TTL: 10 * time.Second})
		time.Sleep(10 * ms)
		began := time.Now()
		w.want(w.extend("k", "1", time.Minute), Won)
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		w.want(split.wait(t), Contended)
	}, func(cfg *Config) { cfg.SplitRetries, cfg.SplitDelay = 1, 250*ms })
}

// Its lock may end while it waits: what the other has won is not extended.
func TestExtendIsRefusedIfTheAcquireItWaitsForIsWon(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "1", 50*ms, 1, 2, 3)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 100 * ms }) }, 2, 3)
		won := w.put(Request{Kind: Acquire, Key: "k", Token: "1", TTL: time.Minute})
		time.Sleep(10 * ms)
		r := w.extend("k", "1", time.Second)
		if w.want(r, Contended); !r.Absent {
			t.Errorf("told %+v", r)
		}
		w.want(won.wait(t), Won)
		w.settle()
		for _, m := range w.masters[1:] {
			if left := m.left("k"); left < 50*time.Second {
				t.Errorf("%s holds it for %v", m.name, left)
			}
		}
		if s := w.engine.Status(); s.InFlight != 0 || s.Decisions[Extend][Contended] != 1 {
			t.Errorf("%d in flight, %d refused", s.InFlight, s.Decisions[Extend][Contended])
		}
	})
}

// Neither another's acquire nor one that is decided holds an extension up.
func TestExtendWaitsForNoOtherAcquire(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Minute), Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 1, 2, 3)
		other := w.put(Request{Kind: Acquire, Key: "k", Token: "b", TTL: time.Minute})
		began := time.Now()
		w.want(w.ask(Request{Kind: Extend, Key: "k", Token: "a", TTL: time.Minute}), Won)
		if took := time.Since(began); took > 110*ms {
			t.Errorf("it took %v", took)
		}
		w.want(other.wait(t), Contended)
	})
}

// A release meets what another client has been granted so far. That one is not told
// that it holds what is gone.
func TestAcquireIsNotWonByWhatAReleaseHasTaken(t *testing.T) {
	for name, c := range map[string]struct {
		token   string // of the one who asks
		ttl     time.Duration
		release Request
	}{
		"DEL":               {"b", time.Minute, Request{Kind: Remove, Key: "k"}},
		"a constant token":  {"1", time.Minute, Request{Kind: Release, Key: "k", Token: "1"}},
		"a lock for ever":   {"b", 0, Request{Kind: Remove, Key: "k"}},
		"SET":               {"b", time.Minute, Request{Kind: Write, Key: "k", Args: []string{"SET", "k", "1", "XX"}}},
		"an expiry of 1 ms": {"b", time.Minute, Request{Kind: Write, Key: "k", Args: []string{"PEXPIRE", "k", "1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[1].put("k", "1", time.Minute)
				w.masters[2].put("k", "1", 20*ms) // so much faster is its clock
				w.masters[2].set(func(m *fakeMaster) { m.lag = 50 * ms })
				asked := newWaiter()
				w.engine.Put(&Request{Kind: Acquire, Key: "k", Token: c.token, TTL: c.ttl}, asked)
				synctest.Wait()
				if v := w.masters[0].value("k"); v != c.token {
					t.Fatalf("the first master holds %q", v)
				}
				released := newWaiter()
				w.engine.Put(&c.release, released)
				got := <-asked.answers
				held := 0
				for _, m := range w.masters {
					if m.value("k") == c.token {
						held++
					}
				}
				<-released.answers
				if got.Decision == Won && held < 2 {
					t.Errorf("it was won, and %d masters hold it", held)
				}
				if c.release.Kind != Write && got.Decision != Won {
					t.Errorf("what was free in the end was not won: %v", got.Decision)
				}
			})
		})
	}
}
