package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// briefTTL is a max-ttl whose quarantine a test can wait for.
func briefTTL(cfg *Config) { cfg.MaxTTL = 10 * time.Second }

// state waits for what is under way and tells where a master stands.
func (w *world) state(number int) quorum.MasterStatus {
	synctest.Wait()
	return w.engine.Status().Masters[number-1]
}

func (w *world) wantState(number int, s quorum.State, reason string) {
	w.t.Helper()
	if got := w.state(number); got.State != s || !strings.Contains(got.Reason, reason) {
		w.t.Fatalf("master %d is %v: %s; want %v: %s", number, got.State, got.Reason, s, reason)
	}
}

// once has f called under the master's lock before the next command that begins
// with name is carried out.
func once(m *fakeMaster, name string, f func(*fakeMaster)) {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if strings.HasPrefix(strings.Join(args, " "), name) {
				m.respond = nil
				f(m)
			}
			return ""
		}
	})
}

func TestMasterThatCameBackBlankVotesOnNothing(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.want(w.acquire("k", "a", 9*time.Second), quorum.Won) // on 1 and 2
		w.up(3)
		w.down(1) // the only one that would still know
		w.masters[1].restartBlank()
		time.Sleep(w.cfg.ProbeInterval)
		w.wantState(2, quorum.Quarantined, "its marker is gone")
		w.want(w.acquire("k", "b", time.Second), quorum.Unavailable)
		w.wantValues("k", "a", "", "")
		// A release reaches it all the same, and what it has nothing of it may have had.
		w.up(1)
		w.want(w.release("k", "a"), quorum.Won)
		w.wantValues("k", "", "", "")
	}, briefTTL)
}

func TestQuarantineEndsWhenNoLockFromBeforeCanLive(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(1) // of the masters that remember too few are left to catch up from
		w.masters[1].restartBlank()
		time.Sleep(w.cfg.ProbeInterval)
		w.wantState(2, quorum.Quarantined, "its marker is gone")
		began := time.Now()
		for w.state(2).State != quorum.Voting {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took < w.cfg.MaxTTL-w.cfg.ProbeInterval || took > w.cfg.MaxTTL+2*w.cfg.ProbeInterval {
			t.Errorf("it took %v", took)
		}
		w.want(w.acquire("k", "b", time.Second), quorum.Won)
	}, briefTTL)
}

// What is lost between two commands of one batch is noticed at its end.
func TestNoVoteCountsWithoutItsProof(t *testing.T) {
	remarked := func(m *fakeMaster) {
		was := m.marker()
		m.keys = map[string]fakeKey{quorum.MarkerKey: {value: string(marker.NewNonce(false)) + was[marker.NonceLength:]}}
	}
	for name, lose := range map[string]func(*fakeMaster){
		"FLUSHALL":                forgetAll,
		"FLUSHALL and re-marking": remarked,
		"a clock set forward":     func(m *fakeMaster) { m.jumped += time.Hour },
		"a clock set back":        func(m *fakeMaster) { m.jumped -= time.Hour },
		"a marker that is a hash": func(m *fakeMaster) { m.keys[quorum.MarkerKey] = fakeKey{value: "", hash: true} },
	} {
		// It could be a copy by then, or it is not known when it ends.
		stays := name == "FLUSHALL and re-marking" || name == "a clock set forward"
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.down(3)
				w.want(w.acquire("k", "a", 9*time.Second), quorum.Won) // on 1 and 2
				w.up(3)
				w.down(1)
				once(w.masters[1], "SET k b", lose)
				w.want(w.acquire("k", "b", time.Second), quorum.Unavailable)
				time.Sleep(2 * w.cfg.AcquireTimeout) // others are looked at first
				if v := w.masters[1].value("k"); (v == "b") != stays {
					t.Errorf("it holds %q", v)
				}
				if s := w.state(2); s.Withheld == 0 {
					t.Errorf("no vote was withheld: %+v", s)
				}
			}, briefTTL)
		})
	}
}

func TestQuarantineIsSeenByAllProxiesAndSurvivesThem(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		first := w.engine
		w.down(1)
		w.masters[1].restartBlank()
		time.Sleep(w.cfg.ProbeInterval)
		w.wantState(2, quorum.Quarantined, "its marker is gone")
		w.stop(first)
		time.Sleep(w.cfg.MaxTTL / 2)
		began := time.Now()
		w.engine = w.start(w.cfg) // knows nothing of before
		w.wantState(2, quorum.Quarantined, "its marker is gone")
		for w.state(2).State != quorum.Voting {
			time.Sleep(100 * time.Millisecond)
		}
		// Nobody saw the time pass in which there was no proxy.
		if took := time.Since(began); took < w.cfg.MaxTTL-3*w.cfg.ProbeInterval {
			t.Errorf("it took %v", took)
		}
	}, briefTTL)
}

func TestTimeInQuarantineIsKeptForTheNextProxy(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(1)
		w.masters[1].restartBlank()
		time.Sleep(w.cfg.MaxTTL / 2)
		w.stop(w.engine)
		began := time.Now()
		w.engine = w.start(w.cfg)
		for w.state(2).State != quorum.Voting {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took < w.cfg.MaxTTL/2-time.Second || took > w.cfg.MaxTTL/2+4*w.cfg.ProbeInterval {
			t.Errorf("it took %v", took)
		}
	}, briefTTL)
}

// A provisional marker that is lost begins the quarantine anew.
func TestSecondLossBeginsTheQuarantineAnew(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(1)
		w.masters[1].restartBlank()
		time.Sleep(w.cfg.MaxTTL - 3*w.cfg.ProbeInterval)
		w.wantState(2, quorum.Quarantined, "")
		w.masters[1].set(forgetAll)
		began := time.Now()
		for w.state(2).State != quorum.Voting {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took < w.cfg.MaxTTL {
			t.Errorf("it took %v", took)
		}
	}, briefTTL)
}

func TestDurableMasterIsExcusedANewProcess(t *testing.T) {
	for name, c := range map[string]struct {
		before, after map[string]string
		keeps         bool // its keys
		excused       bool
	}{
		"durable before and after": {durableSettings, durableSettings, true, true},
		"without its keys":         {durableSettings, durableSettings, false, false},
		"not before":               {nil, durableSettings, true, false},
		"not after":                {durableSettings, nil, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				briefTTL(&w.cfg)
				m := w.masters[1]
				m.settings = c.before
				w.engine = w.start(w.cfg)
				time.Sleep(3 * w.cfg.ProbeInterval) // to be seen while it is up
				kept := m.copy()
				m.restartBlank()
				if c.keeps {
					m.restartWith(kept)
				}
				m.set(func(m *fakeMaster) { m.settings = c.after })
				time.Sleep(3 * w.cfg.ProbeInterval)
				w.wantState(2, quorum.Voting, "")
				if s := w.engine.Status(); (s.Quarantines == 0) != c.excused {
					t.Errorf("%d quarantines", s.Quarantines)
				}
			})
		})
	}
}

func TestProxyWithOtherTermsGetsNoVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		w.engine = w.start(w.cfg)
		other := w.cfg
		other.Masters = append(other.Masters[:2:2], newFakeMaster("m4").master())
		before := w.masters[0].value(quorum.MarkerKey)
		e := w.start(other)
		if err := e.Refusal(); err == nil || !strings.Contains(err.Error(), "its set has m3, which the masters here have not; its set has no m4") {
			t.Errorf("it is told %v", err)
		}
		w.engine, w.engines[0] = e, w.engine
		w.want(w.acquire("k", "a", time.Second), quorum.Unavailable)
		if after := w.masters[0].value(quorum.MarkerKey); after != before {
			t.Errorf("the marker was overwritten with %s", after)
		}
	})
}
