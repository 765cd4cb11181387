package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// The one look that comes while the clock is set is vague, and all later ones are sharp.
func TestClockSetBehindASlowReplyIsFoundOut(t *testing.T) {
	for _, slow := range []time.Duration{240 * ms, 450 * ms} {
		inWorld(t, 3, func(w *world) {
			w.down(3)
			began := time.Now()
			w.want(w.acquire("k", "a", 5*time.Second), quorum.Won) // on 1 and 2
			w.up(3)
			m := w.masters[1]
			m.set(func(m *fakeMaster) { m.answersLate(slow) })
			m.set(func(m *fakeMaster) { m.jumped += slow - 40*ms })
			time.Sleep(w.cfg.ProbeInterval + 100*ms)
			m.set(func(m *fakeMaster) { m.answersLate(0) })
			w.noticed(2)
			time.Sleep(time.Until(began.Add(4900 * ms))) // by its clock the lock has ended
			if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A batch that took longer than a decision may votes on nothing, though its marker is right.
func TestLookLongerThanADecisionProvesNothing(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		before := w.state(3)
		w.masters[2].set(func(m *fakeMaster) { m.answersLate(w.cfg.AcquireTimeout + 50*ms) })
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		time.Sleep(time.Second)
		after := w.state(3)
		if after.Withheld != before.Withheld+1 || after.Granted != before.Granted {
			t.Errorf("%+v", after)
		}
		w.wantState(3, quorum.Voting, "")
		w.wantValues("k", "a", "a", "a")
		w.masters[2].set(func(m *fakeMaster) { m.answersLate(0) })
		w.want(w.release("k", "a"), quorum.Won)
		time.Sleep(time.Second)
		if s := w.state(3); s.Granted != before.Granted+1 {
			t.Errorf("%+v", s)
		}
	})
}

// paused is as if the proxy's machine had been stopped for a while with all of its
// clocks: all others went on.
func (w *world) paused(d time.Duration) {
	for _, m := range w.masters {
		m.set(func(m *fakeMaster) { m.jumped += d })
	}
}

// forgets has a master forget, be given by another proxy what the others hold, and be
// admitted.
func (w *world) forgets(m *fakeMaster) {
	m.locked(func() {
		k, err := marker.Parse(m.marker())
		if err != nil {
			w.t.Fatal(err)
		}
		clear(m.keys)
		k.Was, k.Nonce = k.Nonce, marker.NewNonce(false)
		m.keys[quorum.MarkerKey] = fakeKey{value: k.String()}
	})
}

// Votes from before this machine was stopped are counted with none from after. What was
// asked before is at one master, and behind something else at the other.
func TestNoVoteFromBeforeAStandstillCountsWithOneFromAfter(t *testing.T) {
	for name, ask := range map[string]quorum.Request{
		"acquire": {Kind: quorum.Acquire, Key: "k", Token: "a", TTL: 5 * time.Minute},
		"extend":  {Kind: quorum.Extend, Key: "held", Token: "x", TTL: 5 * time.Minute},
		"write":   {Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "a"}},
		"read":    {Kind: quorum.Read, Key: "held"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("held", "x", time.Minute), quorum.Won)
				w.down(3)
				w.masters[1].set(func(m *fakeMaster) { m.lag = 30 * ms })
				busy := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
				synctest.Wait()
				a := w.put(ask)
				time.Sleep(5 * ms)
				w.forgets(w.masters[0])
				w.paused(time.Minute)
				if r := a.wait(t); r.Decision == quorum.Won {
					t.Errorf("%+v", r)
				}
				busy.wait(t)
				w.masters[1].set(func(m *fakeMaster) { m.lag = 0 })
				w.up(3)
				time.Sleep(time.Second)
				for i := range 3 {
					w.wantState(i+1, quorum.Voting, "")
				}
				w.want(w.acquire("k", "b", time.Minute), quorum.Won)
			})
		})
	}
}

// It need not be found out that the machine was stopped: the jump of a master's clock is
// settled, too, by a quarantine that another proxy began.
func TestNoVoteFromBeforeAStandstillCountsThoughNobodyKnowsOfIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.each(func(m *fakeMaster) { m.lag = 30 * ms }, 2)
		busy := w.put(quorum.Request{Kind: quorum.Read, Key: "other"})
		synctest.Wait()
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: 5 * time.Minute})
		time.Sleep(5 * ms)
		w.forgets(w.masters[0])
		w.masters[1].locked(func() {
			m, err := marker.Parse(w.masters[1].marker())
			if err != nil {
				t.Fatal(err)
			}
			m.Was, m.Nonce = m.Nonce, marker.NewNonce(true)
			w.masters[1].keys = map[string]fakeKey{quorum.MarkerKey: {value: m.String()}}
		})
		w.paused(time.Minute)
		w.masters[1].set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if len(args) == 2 && args[0] == "GET" && marker.NonceOf(m.marker()).Provisional() {
					m.after = nil // the other proxy admits it
					was, _ := marker.Parse(m.marker())
					was.Was, was.Nonce = was.Nonce, marker.NewNonce(false)
					m.keys[quorum.MarkerKey] = fakeKey{value: was.String()}
				}
			}
		})
		if r := a.wait(t); r.Decision == quorum.Won {
			t.Errorf("%+v", r)
		}
		busy.wait(t)
		w.up(3)
	})
}

// That the others' clocks seem to have jumped alike excuses none that has jumped otherwise.
func TestClockThatIsSetDuringAStandstillIsFoundOut(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won) // on 1 and 2
		w.up(3)
		w.paused(5 * time.Second)
		w.masters[1].set(func(m *fakeMaster) { m.jumped += time.Minute })
		if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
			t.Errorf("%+v", r)
		}
		time.Sleep(w.cfg.AcquireTimeout)
		w.wantState(2, quorum.Quarantined, "its clock has jumped by 1m5s")
		w.wantState(1, quorum.Voting, "")
		w.wantState(3, quorum.Voting, "")
		if r := w.acquire("k", "c", time.Minute); r.Decision == quorum.Won {
			t.Errorf("%+v", r)
		}
	})
}

// What is taken for a standstill is not known of any more. So a clock that is set meanwhile
// may go with it by no more than could hide at any time.
func TestClockThatIsSetByALittleDuringAStandstillIsFoundOut(t *testing.T) {
	for name, c := range map[string]struct{ by, slow time.Duration }{
		"by little":               {40 * ms, 0},
		"by more":                 {100 * ms, 0},
		"while its reply is slow": {210 * ms, 240 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.down(3)
				const ttl, stood = 4 * time.Second, time.Second
				ends := time.Now().Add(ttl - stood)
				w.want(w.acquire("k", "a", ttl), quorum.Won) // on 1 and 2
				w.up(3)
				w.paused(stood)
				m := w.masters[1]
				m.set(func(m *fakeMaster) { m.jumped += c.by; m.answersLate(c.slow) })
				w.read("k") // shows it
				time.Sleep(c.slow + w.cfg.AcquireTimeout)
				m.set(func(m *fakeMaster) { m.answersLate(0) })
				for time.Until(ends) > ms {
					if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
						t.Fatalf("%v too early: %+v", time.Until(ends), r)
					}
					time.Sleep(3 * ms)
				}
				w.wantState(1, quorum.Voting, "")
				w.wantState(3, quorum.Voting, "")
				if s := w.engine.Status(); s.Quarantines != 1 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// What needs the time of day is not carried out at all while two clocks contradict each
// other and the third is away: either of them may be an hour off.
func TestWithoutAQuorumOfClocksThereIsNoTimeOfDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		w.masters[0].jumped = time.Hour // all the time: nobody sets it
		w.masters[2].cut()
		w.engine = w.start(w.cfg)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		at := time.Now().Add(30 * time.Second).UnixMilli()
		for _, r := range []quorum.Request{
			{Kind: quorum.Extend, Key: "k", Token: "a", At: at},
			{Kind: quorum.Acquire, Key: "other", Token: "a", At: at},
			{Kind: quorum.Write, Key: "k", Args: []string{"PEXPIRE", "k", ""}, TTLArg: 2, At: at},
		} {
			if got := w.ask(r); got.Decision != quorum.Unavailable || !got.NoTime {
				t.Errorf("%v: %+v", r.Kind, got)
			}
		}
		if now, known := w.engine.Now(); known {
			t.Errorf("it is %v", now)
		}
		w.wantValues("k", "a", "a", "")
		w.wantValues("other", "", "", "")
		w.up(3)
		if off := time.Until(w.now()).Abs(); off > 10*ms {
			t.Errorf("off by %v", off)
		}
		w.want(w.ask(quorum.Request{Kind: quorum.Extend, Key: "k", Token: "a", At: at}), quorum.Won)
		if left := w.masters[1].left("k"); left > clock.Pad(30*time.Second) || left < 25*time.Second {
			t.Errorf("%v are left", left)
		}
	})
}

// A clock that was seen a while ago has told the time all the same.
func TestClockOfAMasterThatIsAwayIsCarriedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		w.masters[0].jumped = time.Hour
		w.engine = w.start(w.cfg)
		began := time.Now()
		w.masters[2].cut()
		time.Sleep(clock.CarriedOn - 2*time.Second)
		if off := time.Until(w.now()).Abs(); off > 10*ms {
			t.Errorf("off by %v after %v", off, time.Since(began))
		}
		time.Sleep(4 * time.Second)
		if now, known := w.engine.Now(); known {
			t.Errorf("it is %v after %v", now, time.Since(began))
		}
	})
}
