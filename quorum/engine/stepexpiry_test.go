package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// What a step leaves may be extended before the step is decided: no extension looks at latches,
// and none changes what is dumped.

// extendedMeanwhile has other masters than the first be late with a step, and the key's life on
// the first be another by then, as of another proxy's client.
func (w *world) extendedMeanwhile(s *quorum.Script, key string, life time.Duration, args ...string) quorum.Result {
	w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 60 * ms }) }, 2, 3)
	a := w.stepOn(s, key, args...)
	time.Sleep(20 * ms)
	w.masters[0].set(func(m *fakeMaster) {
		k := m.keys[key]
		k.until = m.now() + int64(life)
		m.keys[key] = k
	})
	return a.wait(w.t)
}

func TestStepThatIsLostLetsGoOfWhatItOnlyWatched(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		other := w.start(w.cfg)
		w.want(w.acquire("k", "a", time.Second), quorum.Won)
		w.putAll(countOf("k"), "1", "2", "3")
		w.masters[2].set(func(m *fakeMaster) { m.delay = 60 * ms })
		a := w.put(quorum.Request{Kind: quorum.Run, Script: watchStep, Key: "k", Keys: []string{"k", countOf("k")}})
		time.Sleep(20 * ms)
		began := time.Now()
		extended := newWaiter()
		other.Put(&quorum.Request{Kind: quorum.Extend, Key: "k", Token: "a", TTL: time.Minute}, extended)
		w.want(extended.wait(t), quorum.Won)
		w.want(a.wait(t), quorum.Split)
		w.settle()
		w.wantValues(countOf("k"), "1", "2", "3")
		for _, m := range w.masters[:2] {
			if left := m.left("k"); left < time.Minute-time.Since(began) {
				t.Errorf("on %s what was extended for a minute ends in %v", m.name, left)
			}
			if told := m.commands("take-back k"); len(told) != len(m.commands("take-back k is watched")) {
				t.Errorf("%s was told %q", m.name, told)
			}
		}
		w.wantFree("k")
		w.wantFree(countOf("k"))
	})
}

func TestLostStepIsNotTakenBackWhereItsKeyWasExtendedSince(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.masters[0].put("k", "a", time.Second)
		r := w.extendedMeanwhile(renewStep, "k", time.Minute, "a", "20000")
		if r.Decision != quorum.Split || r.Script != nil {
			t.Errorf("it came to %+v", r)
		}
		if left := w.masters[0].left("k"); left < 59*time.Second {
			t.Errorf("it was extended for a minute, and ends in %v", left)
		}

		// A value that was set anew, and then extended by its client.
		w.masters[0].put("new", "a", time.Second)
		w.extendedMeanwhile(setStep, "new", time.Minute, "a", "b")
		if v := w.masters[0].value("new"); v != "b" {
			t.Errorf("it was extended as b, and is %q", v)
		}
		w.settle()
		w.wantFree("k")
		w.wantFree("new")
	})
}

// Its life goes on meanwhile, however late the step is lost.
func TestWhatALostStepIsTakenBackToLivesNoLonger(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 100 * ms }) }, 2, 3)
		for name, lost := range map[string]func(key string) *waiter{
			"freed":   func(key string) *waiter { return w.stepOn(freeStep, key, "a") },
			"renewed": func(key string) *waiter { return w.stepOn(renewStep, key, "a", "20000") },
			"set":     func(key string) *waiter { return w.stepOn(setStep, key, "a", "b") },
		} {
			began := time.Now()
			w.masters[0].put(name, "a", 400*ms)
			w.want(lost(name).wait(t), quorum.Contended)
			left, ends := w.masters[0].left(name), 400*ms-time.Since(began)
			if v := w.masters[0].value(name); v != "a" || left < ends-2*ms || left > ends+2*ms {
				t.Errorf("%s: it is %q for %v, and was to end in %v", name, v, left, ends)
			}
		}
	})
}

func TestWhatWasExtendedSinceIsNotBroughtUp(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		for i, v := range []string{"3", "10", "10"} {
			w.masters[i].put("k", v, time.Minute)
		}
		w.want(w.stepOn(setStep, "k", "10", "11").wait(t), quorum.Won)
		time.Sleep(2*w.cfg.AcquireTimeout + 10*ms)
		w.want(w.extendedMeanwhile(setStep, "k", 2*time.Minute, "11", "12"), quorum.Won)
		w.settle()
		w.wantValues("k", "3", "12", "12")
		w.want(w.stepOn(setStep, "k", "12", "13").wait(t), quorum.Won)
		time.Sleep(10 * time.Second)
		w.wantValues("k", "13", "13", "13")
	})
}

func TestWhatIsBroughtUpLivesAsLongAsAQuorumHasIt(t *testing.T) {
	livesOnAsAQuorumHasIt(t, func(w *world) time.Duration { return 2*w.cfg.AcquireTimeout + 10*ms })
}

// So it does where it is set right though nobody has come.
func TestWhatIsSetRightLivesAsLongAsAQuorumHasIt(t *testing.T) {
	livesOnAsAQuorumHasIt(t, func(*world) time.Duration { return time.Second })
}

// livesOnAsAQuorumHasIt has two steps change a key that the last master is behind on, with a pause between them.
func livesOnAsAQuorumHasIt(t *testing.T, pause func(w *world) time.Duration) {
	for name, test := range map[string]struct {
		lives [3]time.Duration
		want  time.Duration // on the last
	}{
		"one has more":              {[3]time.Duration{time.Minute, 2 * time.Minute, 30 * time.Second}, time.Minute},
		"one has it for ever":       {[3]time.Duration{time.Minute, 0, time.Minute}, time.Minute},
		"the others have more":      {[3]time.Duration{2 * time.Minute, 2 * time.Minute, time.Minute}, 2 * time.Minute},
		"the others have less":      {[3]time.Duration{time.Minute, time.Minute, 5 * time.Minute}, time.Minute},
		"one other has less":        {[3]time.Duration{time.Minute, 2 * time.Minute, 2 * time.Minute}, 2 * time.Minute},
		"the others have it always": {[3]time.Duration{0, 0, time.Minute}, 0},
		"it alone has it always":    {[3]time.Duration{time.Minute, time.Minute, 0}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				began := time.Now()
				for i, v := range []string{"10", "10", "3"} {
					w.masters[i].put("k", v, test.lives[i])
				}
				w.masters[1].set(func(m *fakeMaster) { m.delay = 20 * ms }) // the last is heard before
				w.want(w.stepOn(setStep, "k", "10", "11").wait(t), quorum.Won)
				time.Sleep(pause(w))
				w.want(w.stepOn(setStep, "k", "11", "12").wait(t), quorum.Won)
				w.settle()
				w.wantValues("k", "12", "12", "12")
				left, want := w.masters[2].left("k"), test.want
				if want > 0 {
					want -= time.Since(began)
				}
				if left > want+50*ms || left < want-50*ms {
					t.Errorf("it ends in %v, want %v", left, want)
				}
			})
		})
	}
}
