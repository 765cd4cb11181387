package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

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
