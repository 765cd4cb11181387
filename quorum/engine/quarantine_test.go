package engine

import (
	"strings"
	"sync/atomic"
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

func TestClockJumpTakesOneMasterOut(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.masters[4].set(func(m *fakeMaster) { m.jumped = -time.Minute })
		w.noticed(5)
		if s := w.state(5); !strings.Contains(s.Reason, "its clock has jumped by -1m") {
			t.Errorf("%+v", s)
		}
		for i := range 4 {
			w.wantState(i+1, quorum.Voting, "")
		}
	}, briefTTL)
}

// A jump that was seen is acted on, whatever happens before the marker tells of it.
func TestClockJumpIsRememberedUntilTheMarkerTells(t *testing.T) {
	for name, then := range map[string]func(*world, *fakeMaster){
		"the connection is lost": func(w *world, m *fakeMaster) {
			m.cut()
			time.Sleep(w.cfg.AcquireTimeout)
			m.mend()
		},
		"the clock is set back": func(_ *world, m *fakeMaster) {
			m.set(func(m *fakeMaster) { m.jumped = 0 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				m := w.masters[1]
				m.set(func(m *fakeMaster) { m.jumped = time.Minute })
				w.want(w.acquire("k", "a", time.Second), quorum.Won) // and its proof shows the jump
				time.Sleep(w.cfg.AcquireTimeout / 2)                 // others are looked at first
				if s := w.state(2); s.State != quorum.Voting || s.Withheld == 0 {
					t.Fatalf("it is %+v", s)
				}
				then(w, m)
				w.noticed(2)
				if s := w.state(2); !strings.Contains(s.Reason, "its clock has jumped by 1m0s") {
					t.Errorf("%+v", s)
				}
			}, briefTTL)
		})
	}
}

func TestClockJumpIsOneQuarantineForAllProxies(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for range 2 {
			w.start(w.cfg)
		}
		m := w.masters[1]
		quarantines := make(map[marker.Nonce]bool)
		m.set(func(m *fakeMaster) {
			m.jumped = time.Minute
			m.after = func(_ []string, m *fakeMaster) {
				if n := marker.NonceOf(m.marker()); n.Provisional() && m.using == 0 {
					quarantines[n] = true
				}
			}
		})
		time.Sleep(10 * w.cfg.ProbeInterval)
		m.locked(func() {
			if len(quarantines) != 1 {
				t.Errorf("it was quarantined %d times", len(quarantines))
			}
		})
		for i, e := range w.engines {
			if s := e.Status().Masters[1]; s.State != quorum.Voting {
				t.Errorf("engine %d: %+v", i, s)
			}
		}
	})
}

// A proxy whose own clock stood still must not take every master out for it.
func TestOwnClockThatStoodStillTakesNobodyOut(t *testing.T) {
	var wall atomic.Int64
	clock := func(cfg *Config) {
		cfg.Clock = func() (time.Duration, time.Time) {
			boot, now := virtualClock()
			return boot, now.Add(time.Duration(wall.Load()))
		}
	}
	for _, own := range []bool{true, false} {
		wall.Store(0)
		inWorld(t, 3, func(w *world) {
			// Seen from us, the others have gone on for a minute.
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.jumped = time.Minute }) }, 1, 2, 3)
			if !own {
				wall.Store(int64(time.Minute)) // ours as well: it is the world's clocks that were set
			}
			time.Sleep(3 * w.cfg.ProbeInterval)
			for i := range 3 {
				if own {
					w.wantState(i+1, quorum.Voting, "")
				} else {
					w.wantState(i+1, quorum.Quarantined, "its clock has jumped by 1m0s")
				}
			}
			if own {
				w.want(w.acquire("k", "a", time.Second), quorum.Won)
			}
		}, briefTTL, clock)
	}
}

// A clock that runs as it did is proof that it was not ours that stood still.
func TestClocksOfAQuorumThatJumpAlikeAreNotOurs(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.jumped = time.Minute }) }, 1, 2)
		w.masters[2].set(func(m *fakeMaster) { m.lag = 50 * ms })
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.wantState(1, quorum.Quarantined, "its clock has jumped by 1m0s")
		w.wantState(2, quorum.Quarantined, "its clock has jumped by 1m0s")
		w.wantState(3, quorum.Voting, "")
	}, briefTTL)
}

// What was put before this machine slept is decided no more: a vote from before may
// be worth nothing by now, and the patience did not run on.
func TestSleepEndsEveryVote(t *testing.T) {
	var slept atomic.Int64
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.lag = 50 * ms }, 2, 3)
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour})
		time.Sleep(20 * ms) // one has granted
		slept.Store(int64(time.Minute))
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.jumped = time.Minute }) }, 1, 2, 3)
		w.want(a.wait(t), quorum.Unavailable)
		time.Sleep(time.Second)
		w.wantValues("k", "", "", "")
		w.want(w.acquire("k", "b", time.Second), quorum.Won)
	}, func(cfg *Config) {
		cfg.Clock = func() (time.Duration, time.Time) {
			boot, now := virtualClock()
			asleep := time.Duration(slept.Load())
			return boot + asleep, now.Add(asleep)
		}
	})
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
