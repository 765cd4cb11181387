package engine

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// acquirers puts an acquire of k for each of n clients.
func (w *world) acquirers(n int) (waiters []*waiter) {
	for i := range n {
		waiters = append(waiters, w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: fmt.Sprint("t", i), TTL: time.Minute}))
	}
	return waiters
}

func TestAcquiresOfAHeldLockShareOneAttempt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "holder", time.Minute), quorum.Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 10 * ms; m.log = nil }) }, 1, 2, 3)
		for _, a := range w.acquirers(100) {
			r := a.wait(t)
			if w.want(r, quorum.Contended); r.Value != "holder" {
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
		tells := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute, TellsValue: true})
		for _, a := range waiters {
			if r := a.wait(t); r.Decision != quorum.Contended || r.Exists {
				t.Errorf("%+v", r)
			}
		}
		if r := tells.wait(t); r.Decision != quorum.Contended || r.Value != "a" {
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
		w.want(waiters[0].wait(t), quorum.Won)
		for _, a := range waiters[1:] {
			r := a.wait(t)
			if w.want(r, quorum.Contended); r.Value != "t0" {
				t.Errorf("told of %q", r.Value)
			}
		}
		w.settle()
		w.wantValues("k", "t0", "t0", "t0")

		// Released while an attempt is in flight: the next in line gets it, and
		// those who share with it hear of its token.
		waiters = w.acquirers(5)
		released := w.put(quorum.Request{Kind: quorum.Release, Key: "k", Token: "t0"})
		w.want(waiters[0].wait(t), quorum.Contended)
		w.want(released.wait(t), quorum.Won)
		w.want(waiters[1].wait(t), quorum.Won)
		for _, a := range waiters[2:] {
			r := a.wait(t)
			if w.want(r, quorum.Contended); r.Value != "t1" {
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
		first := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		time.Sleep(ms) // it is split, and waits to be tried again
		waiters := w.acquirers(10)
		w.want(first.wait(t), quorum.Split)
		for _, a := range waiters {
			w.want(a.wait(t), quorum.Split)
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
		w.want(waiters[0].wait(t), quorum.Unavailable)
		w.masters[1].unfreeze()
		w.masters[2].unfreeze()
		time.Sleep(time.Second)
		r1, r2 := waiters[1].wait(t), waiters[2].wait(t)
		if r1.Decision == quorum.Contended && r2.Decision == quorum.Contended {
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
			w.want(a.wait(t), quorum.Unavailable)
		}
	})
}

func TestCloseAnswersThoseWhoWait(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.freeze() }, 1, 2, 3)
		waiters := w.acquirers(50)
		w.stop(w.engine)
		for _, a := range waiters {
			w.want(<-a.answers, quorum.Unavailable)
		}
	})
}

// However long the line, nobody in it waits longer than a decision may take.
func TestLineBehindSlowMastersIsAnsweredInTime(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 400 * ms }) }, 1, 2, 3)
		began := time.Now()
		for _, a := range w.acquirers(200) {
			w.want(a.wait(t), quorum.Unavailable)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// What an acquire in flight has set may be taken back, and is nobody else's: tokens may
// be constants.
func TestExtendWaitsForTheAcquireOfItsToken(t *testing.T) {
	for name, extend := range map[string]quorum.Request{
		"extend": {Kind: quorum.Extend, Key: "k", Token: "1", TTL: 9 * time.Second},
		"script": {Kind: quorum.Run, Key: "k", Keys: []string{"k"}, Args: []string{"1", "2"}, Script: setStep},
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.masters[0].put("k", "1", 10*time.Second)
				w.masters[1].put("k", "1", 10*time.Second)
				w.each((*fakeMaster).freeze, 2)
				lost := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: 10 * time.Second})
				time.Sleep(50 * ms) // the third has granted it, and the first refused
				extended := w.put(extend)
				if r := extended.wait(t); r.Decision == quorum.Won {
					t.Errorf("%+v", r)
				}
				w.want(lost.wait(t), quorum.Split)
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
		split := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: 10 * time.Second})
		time.Sleep(10 * ms)
		began := time.Now()
		w.want(w.extend("k", "1", time.Minute), quorum.Won)
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		w.want(split.wait(t), quorum.Contended)
	}, func(cfg *Config) { cfg.SplitRetries, cfg.SplitDelay = 1, 250*ms })
}

// Its lock may end while it waits: what the other has won is not extended.
func TestExtendIsRefusedIfTheAcquireItWaitsForIsWon(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "1", 50*ms, 1, 2, 3)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 100 * ms }) }, 2, 3)
		won := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1", TTL: time.Minute})
		time.Sleep(10 * ms)
		r := w.extend("k", "1", time.Second)
		if w.want(r, quorum.Contended); !r.Absent {
			t.Errorf("told %+v", r)
		}
		w.want(won.wait(t), quorum.Won)
		w.settle()
		for _, m := range w.masters[1:] {
			if left := m.left("k"); left < 50*time.Second {
				t.Errorf("%s holds it for %v", m.name, left)
			}
		}
		if s := w.engine.Status(); s.InFlight != 0 || s.Decisions[quorum.Extend][quorum.Contended] != 1 {
			t.Errorf("%d in flight, %d refused", s.InFlight, s.Decisions[quorum.Extend][quorum.Contended])
		}
	})
}

// Neither another's acquire nor one that is decided holds an extension up.
func TestExtendWaitsForNoOtherAcquire(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 1, 2, 3)
		other := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		began := time.Now()
		w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
		if took := time.Since(began); took > 110*ms {
			t.Errorf("it took %v", took)
		}
		w.want(other.wait(t), quorum.Contended)
	})
}

// Who looks whose lock it is keeps nobody from taking it.
func TestScriptThatLooksAtAKeyKeepsNobodyFromLockingIt(t *testing.T) {
	for name, s := range map[string]*quorum.Script{"may write": looksScript, "may not": readsOnly} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 10 * ms; m.log = nil }) }, 1, 2, 3)
				asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
				looked := w.put(runOf(s, "k"))
				w.want(asked.wait(t), quorum.Won)
				if r := looked.wait(t); r.Script == nil || r.Script.Str != "t" {
					t.Errorf("it saw %+v", r)
				}
				for _, m := range w.masters {
					if n := len(m.commands("SET")); n != 1 {
						t.Errorf("%s saw %d attempts", m.name, n)
					}
				}
			})
		})
	}
}

// Whoever only reads does not wait for the decision, either.
func TestScriptThatMayNotWriteWaitsForNoAcquire(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.each((*fakeMaster).freeze, 1)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 2)
		other := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		looked := w.put(runOf(readsOnly, "k"))
		w.settle()
		if n := len(w.masters[2].commands("a script k")); n != 1 {
			t.Errorf("the third master was asked %d times", n)
		}
		w.each((*fakeMaster).unfreeze, 1)
		w.want(other.wait(t), quorum.Contended)
		if r := looked.wait(t); r.Script == nil || r.Script.Str != "a" {
			t.Errorf("it saw %+v", r)
		}
	})
}

// A release meets what another client has been granted so far. That one is not told
// that it holds what is gone.
func TestAcquireIsNotWonByWhatAReleaseHasTaken(t *testing.T) {
	for name, c := range map[string]struct {
		token   string // of the one who asks
		ttl     time.Duration
		release quorum.Request
	}{
		"DEL":               {"b", time.Minute, quorum.Request{Kind: quorum.Remove, Key: "k"}},
		"a constant token":  {"1", time.Minute, quorum.Request{Kind: quorum.Release, Key: "k", Token: "1"}},
		"a lock for ever":   {"b", 0, quorum.Request{Kind: quorum.Remove, Key: "k"}},
		"SET":               {"b", time.Minute, quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "1", "XX"}}},
		"an expiry of 1 ms": {"b", time.Minute, quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[1].put("k", "1", time.Minute)
				w.masters[2].put("k", "1", 20*ms) // so much faster is its clock
				w.masters[2].set(func(m *fakeMaster) { m.lag = 50 * ms })
				asked := newWaiter()
				w.engine.Put(&quorum.Request{Kind: quorum.Acquire, Key: "k", Token: c.token, TTL: c.ttl}, asked)
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
				if got.Decision == quorum.Won && held < 2 {
					t.Errorf("it was won, and %d masters hold it", held)
				}
				if c.release.Kind != quorum.Write && got.Decision != quorum.Won {
					t.Errorf("what was free in the end was not won: %v", got.Decision)
				}
			})
		})
	}
}

// So it is with a flush, also where it is sent to the masters by other connections.
func TestAcquireIsNotWonByWhatAFlushHasTaken(t *testing.T) {
	for name, flush := range map[string]quorum.Request{
		"of its database":                        {Args: []string{"FLUSHDB"}},
		"of all databases":                       {Args: []string{"FLUSHALL"}},
		"of all databases, from another of them": {Args: []string{"FLUSHALL"}, DB: 5},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "a", TTL: time.Second}), quorum.Won)
				w.masters[1].put("k", "1", time.Minute)
				w.masters[2].put("k", "1", 20*ms) // so much faster is its clock
				w.masters[2].set(func(m *fakeMaster) { m.lag = 50 * ms })
				asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
				synctest.Wait()
				flush.Kind = quorum.Survey
				w.put(flush)
				got, held := asked.wait(t), 0
				for _, m := range w.masters {
					if m.value("k") == "b" {
						held++
					}
				}
				if got.Decision == quorum.Won && held < 2 {
					t.Errorf("it was won, and %d masters hold it", held)
				}
			})
		})
	}
}

// What is acquired in another database meanwhile is not held up.
func TestFlushOfOneDatabaseLeavesAcquiresInOthersAlone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "a", TTL: time.Second}), quorum.Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 50 * ms }) }, 2, 3)
		asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		synctest.Wait()
		w.put(quorum.Request{Kind: quorum.Survey, Args: []string{"FLUSHDB"}, DB: 5})
		w.want(asked.wait(t), quorum.Won)
		if s := w.engine.Status(); s.Splits != 0 {
			t.Errorf("%d acquires were tried again", s.Splits)
		}
	})
}

// Redis tells each of those who ask that they have the lock: nobody else does.
func TestWhoDeletesAKeyAgainAndAgainKeepsNobodyFromLockingIt(t *testing.T) {
	for name, c := range map[string]struct {
		token string
		ttl   time.Duration
		frees quorum.Request
	}{
		"DEL":                    {"a", time.Minute, quorum.Request{Kind: quorum.Remove, Key: "k"}},
		"a release of its token": {"1", time.Minute, quorum.Request{Kind: quorum.Release, Key: "k", Token: "1"}},
		"DEL of a lock for ever": {"a", 0, quorum.Request{Kind: quorum.Remove, Key: "k"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 2 * ms; m.quiet = true }) }, 1, 2, 3)
				var stop atomic.Bool
				done := make(chan bool)
				go func() {
					for ; !stop.Load(); time.Sleep(ms) {
						w.put(c.frees)
					}
					close(done)
				}()
				defer func() { stop.Store(true); <-done }()
				for range 20 {
					time.Sleep(10 * ms)
					w.want(w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: c.token, TTL: c.ttl}).wait(t), quorum.Won)
					w.put(quorum.Request{Kind: quorum.Remove, Key: "k"}).wait(t)
				}
				stop.Store(true)
				time.Sleep(time.Second)
				if n := w.engine.zero.shielded.Load(); n != 0 || w.engine.Status().InFlight != 0 {
					t.Errorf("%d acquires are guarded, %d requests in flight", n, w.engine.Status().InFlight)
				}
			})
		})
	}
}

// What comes behind a deletion that waits does not pass it.
func TestOrderOnAKeyIsKeptWhereADeletionWaits(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 10 * ms }) }, 1, 2, 3)
		asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
		w.put(quorum.Request{Kind: quorum.Remove, Key: "k"}) // the acquire is tried again, and guarded
		for len(w.masters[0].commands("SET")) < 2 {
			time.Sleep(ms)
		}
		first := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true})
		removed := w.put(quorum.Request{Kind: quorum.Remove, Key: "k"})
		then := w.put(quorum.Request{Kind: quorum.Read, Key: "k", ValueOnly: true})
		again := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		w.want(asked.wait(t), quorum.Won)
		if r := first.wait(t); r.Value != "a" {
			t.Errorf("read before the deletion: %+v", r)
		}
		w.want(removed.wait(t), quorum.Won)
		if r := then.wait(t); r.Exists {
			t.Errorf("read behind the deletion: %+v", r)
		}
		w.want(again.wait(t), quorum.Won)
		w.settle()
		w.wantValues("k", "b", "b", "b")
	})
}

// What waits has no more time than what is put at once: its client counts from when it asked.
func TestWhatWaitsIsAnsweredWithinTheAcquireTimeout(t *testing.T) {
	acquire := func(token string) quorum.Request {
		return quorum.Request{Kind: quorum.Acquire, Key: "k", Token: token, TTL: time.Minute}
	}
	step := quorum.Request{Kind: quorum.Run, Script: setStep, Key: "k", Keys: []string{"k"}, Args: []string{"1", "2"}}
	for name, c := range map[string]struct{ first, second quorum.Request }{
		"an acquire behind an acquire":   {acquire("a"), acquire("b")},
		"an extension behind an acquire": {acquire("a"), quorum.Request{Kind: quorum.Extend, Key: "k", Token: "a", TTL: time.Minute}},
		"an expiry behind an acquire":    {acquire("a"), quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, TTL: time.Minute}},
		"a script behind an acquire":     {acquire("a"), step},
		"a script behind a script":       {step, step},
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				time.Sleep(100 * ms) // so that what is asked begins with a look at the masters' clocks, whoever was looked at as the world began
				w.each((*fakeMaster).freeze, 2, 3)
				first := w.put(c.first)
				time.Sleep(20 * ms)
				began := time.Now()
				w.want(w.ask(c.second), quorum.Unavailable)
				if took, most := time.Since(began), w.cfg.AcquireTimeout+w.cfg.AcquireTimeout/20; took > most {
					t.Errorf("it took %v", took)
				}
				w.want(first.wait(t), quorum.Unavailable)
				w.each((*fakeMaster).unfreeze, 2, 3)
				time.Sleep(5 * time.Second)
				w.wantValues("k", "", "", "")
			})
		})
	}
}

// So it is with what is put to the masters more than once.
func TestWhatIsTriedAgainIsAnsweredWithinTheAcquireTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		lag     []time.Duration // of each master
		request quorum.Request
		want    quorum.Decision
	}{
		"a split read":               {[]time.Duration{0, 0, 400 * ms}, quorum.Request{Kind: quorum.Read, Key: "differs"}, quorum.Split},
		"a split acquire":            {[]time.Duration{0, 0, 400 * ms}, quorum.Request{Kind: quorum.Acquire, Key: "half", Token: "t", TTL: time.Minute}, quorum.Split},
		"an acquire without a ttl":   {[]time.Duration{200 * ms, 200 * ms, 200 * ms}, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t"}, quorum.Unavailable},
		"a short one that was split": {[]time.Duration{0, 0, 400 * ms}, quorum.Request{Kind: quorum.Acquire, Key: "half", Token: "t", TTL: 200 * ms}, quorum.Split},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[0].put("differs", "x", time.Hour)
				w.masters[1].put("differs", "y", time.Hour)
				w.masters[0].put("half", "x", time.Hour)
				for i, lag := range c.lag {
					w.masters[i].set(func(m *fakeMaster) { m.lag = lag })
				}
				began := time.Now()
				w.want(w.ask(c.request), c.want)
				if took, most := time.Since(began), w.cfg.AcquireTimeout+w.cfg.AcquireTimeout/20; took > most {
					t.Errorf("it took %v", took)
				}
				for _, m := range w.masters {
					m.set(func(m *fakeMaster) { m.lag = 0 })
				}
				time.Sleep(time.Second)
				w.wantValues("k", "", "", "")
			})
		})
	}
}

func TestExpiryInThePastThatHasWaitedIsCarriedOut(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 10 * ms }) }, 1, 2, 3)
		asked := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
		expired := w.put(quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", "", "XX"}, TTLArg: 2, At: 1})
		w.want(asked.wait(t), quorum.Won)
		if r := expired.wait(t); r.Decision != quorum.Won || r.Reply.Int != 1 {
			t.Errorf("%+v", r)
		}
		w.settle()
		w.wantValues("k", "", "", "")
	})
}
