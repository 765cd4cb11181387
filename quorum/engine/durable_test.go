package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// inDurableWorld runs f with an engine over masters that were seen to be durable.
func inDurableWorld(t *testing.T, n int, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, n)
		for _, m := range w.masters {
			m.settings = durableSettings
		}
		w.engine = w.start(w.cfg)
		time.Sleep(3 * w.cfg.ProbeInterval)
		f(w)
	})
}

// That a log was switched off is on no disk of the master's own.
func TestLogThatWasSwitchedOffExcusesNobody(t *testing.T) {
	for name, off := range map[string]func(w *world, m *fakeMaster){
		"while it ran": func(w *world, m *fakeMaster) { m.configure(nil) },
		"and on again": func(w *world, m *fakeMaster) {
			old := m.copy()
			m.configure(nil)
			time.Sleep(3 * w.cfg.ProbeInterval)
			m.configure(durableSettings)
			// It is still being written anew when the master crashes.
			m.set(func(m *fakeMaster) { m.written = &old })
		},
		"and on again, unseen": func(w *world, m *fakeMaster) {
			old := m.copy()
			m.set(func(m *fakeMaster) { m.written, m.info = &old, "aof_rewrite_in_progress:1\r\n" })
		},
		"by a process in between": func(w *world, m *fakeMaster) {
			m.configure(nil)
			m.restartBlank()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inDurableWorld(t, 3, func(w *world) {
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Minute}), quorum.Won)
				w.each(func(m *fakeMaster) {
					off(w, m)
					time.Sleep(5 * w.cfg.ProbeInterval)
				}, 1, 2)
				for _, db := range []int{0, 5} {
					w.want(w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
				}
				w.settle()
				w.stop(w.engine)
				w.each((*fakeMaster).restartFromLog, 1, 2)
				w.engine = w.start(w.cfg)
				time.Sleep(w.cfg.ProbeInterval)
				for _, db := range []int{0, 5} {
					if r := w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
						t.Errorf("a second holder in database %d: %+v", db, r)
					}
				}
				if s := w.engine.Status(); s.Quarantines < 2 {
					t.Errorf("%d quarantines", s.Quarantines)
				}
			})
		})
	}
}

// What Redis 6.2 writes anew is in the directory that it was given since: nothing of that is
// set otherwise when it is restarted, and reads the old log.
func TestLogThatWasLeftBehindExcusesNobody(t *testing.T) {
	elsewhere := func(m *fakeMaster, lines string) {
		old := m.copy()
		m.set(func(m *fakeMaster) { m.written, m.info = &old, lines })
	}
	for name, leave := range map[string]func(w *world, m *fakeMaster){
		"written anew in a moment": func(w *world, m *fakeMaster) { elsewhere(m, "aof_rewrites:1\r\ntotal_forks:7\r\n") },
		"by Redis 6.2":             func(w *world, m *fakeMaster) { elsewhere(m, "total_forks:1\r\n") },
		"and its master is restarted": func(w *world, m *fakeMaster) {
			m.restartFromLog()
			time.Sleep(3 * w.cfg.ProbeInterval)
			elsewhere(m, "total_forks:1\r\n")
		},
		"before its new process is looked at": func(w *world, m *fakeMaster) {
			m.restartFromLog()
			elsewhere(m, "aof_rewrites:1\r\n")
		},
		"and its master is flushed": func(w *world, m *fakeMaster) {
			elsewhere(m, "total_forks:1\r\n")
			time.Sleep(5 * w.cfg.ProbeInterval)
			m.set(forgetAll)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inDurableWorld(t, 3, func(w *world) {
				m := w.masters[0]
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
				leave(w, m)
				time.Sleep(5 * w.cfg.ProbeInterval)
				w.wantState(1, quorum.Voting, "")
				before := w.engine.Status().Quarantines
				w.down(3)
				for _, db := range []int{0, 5} {
					w.want(w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
				}
				w.settle()
				w.up(3)
				time.Sleep(2 * w.cfg.ProbeInterval)
				tellingInfo(m, "")
				m.restartFromLog()
				time.Sleep(5 * w.cfg.ProbeInterval)
				for _, db := range []int{0, 5} {
					if r := w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
						t.Errorf("a second holder in database %d: %+v", db, r)
					}
				}
				if s := w.engine.Status(); s.Quarantines == before {
					t.Errorf("it is excused, and is %v", w.state(1).State)
				}
			})
		})
	}
}

// A log that has been written anew is whole, and known to be.
func TestLogThatHasBeenWrittenAnewExcusesItsMaster(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		tellingInfo(m, "aof_rewrite_in_progress:1\r\n")
		time.Sleep(3 * w.cfg.ProbeInterval)
		tellingInfo(m, "")
		time.Sleep(4 * w.cfg.ProbeInterval)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		m.restartFromLog()
		time.Sleep(w.cfg.ProbeInterval)
		w.wantState(1, quorum.Voting, "")
		if s := w.engine.Status(); s.Quarantines != 0 {
			t.Errorf("%d quarantines", s.Quarantines)
		}
	})
}

// What stands in the logs tells of the logs.
func TestDurableMastersThatAllLosePowerVoteAtOnce(t *testing.T) {
	for _, n := range []int{3, 5} {
		inDurableWorld(t, n, func(w *world) {
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
			w.settle()
			time.Sleep(w.cfg.ProbeInterval)
			w.stop(w.engine)
			for range 2 {
				for _, m := range w.masters {
					m.restartFromLog()
					m.cut()
				}
				e := New(w.cfg, testLog())
				w.engine, w.engines = e, append(w.engines, e)
				for _, m := range w.masters { // one after the other
					time.Sleep(w.cfg.ProbeInterval)
					m.rejoin()
				}
				time.Sleep(w.cfg.ProbeInterval)
				w.want(w.acquire("k", "a", 10*time.Millisecond), quorum.Won)
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}), quorum.Contended)
				w.want(w.asked(7, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}), quorum.Won)
				if s := e.Status(); s.Quarantines != 0 {
					t.Errorf("%d quarantines", s.Quarantines)
				}
				time.Sleep(3 * w.cfg.ProbeInterval)
				w.stop(e)
			}
		})
	}
}

// Those who could tell of a log are away for good.
func TestDurableMasterWaitsForTheOthersUntilNoLockFromBeforeCanLive(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		w.stop(w.engine)
		w.masters[2].cut()
		w.masters[1].restartFromLog()
		w.engine = w.start(w.cfg)
		time.Sleep(w.cfg.MaxTTL)
		w.wantState(2, quorum.Down, "1 of the other masters can tell whether its log is whole, 2 are needed")
		time.Sleep(w.cfg.MaxTTL/50 + time.Second)
		w.wantState(2, quorum.Voting, "")
	})
}

// A log that was switched off in the middle of a quarantine tells nothing of what the master
// has voted for since.
func TestQuarantineInALogThatWasSwitchedOffBeginsAnew(t *testing.T) {
	notInstrumented(t)
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		w.down(2)
		m.restartBlank()
		time.Sleep(w.cfg.MaxTTL - 10*time.Second)
		w.wantState(1, quorum.Quarantined, "")
		m.configure(nil)
		w.up(2)
		time.Sleep(5 * w.cfg.ProbeInterval)
		w.wantState(1, quorum.Voting, "")
		w.down(3)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.settle()
		w.up(3)
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.wantState(3, quorum.Voting, "")
		w.down(2)
		m.restartFromLog()
		for range 30 {
			if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
				t.Fatal("a second holder")
			}
			time.Sleep(time.Second)
		}
	})
}

// Of a database that no proxy has open nobody writes down that the log has another name.
func TestLogThatWasWrittenAnewExcusesInEveryDatabase(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.stop(w.engine)
		w.engine = w.start(w.cfg)
		time.Sleep(3 * w.cfg.ProbeInterval)
		for _, m := range w.masters {
			tellingInfo(m, "aof_rewrite_in_progress:1\r\n")
			time.Sleep(3 * w.cfg.ProbeInterval)
			tellingInfo(m, "")
			time.Sleep(4 * w.cfg.ProbeInterval)
		}
		w.stop(w.engine)
		for _, m := range w.masters {
			m.restartFromLog()
		}
		w.engine = w.start(w.cfg)
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.want(w.asked(0, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}), quorum.Won)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "l", Token: "b", TTL: time.Minute}), quorum.Won)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}), quorum.Contended)
	})
}

// Each of the others is marked anew by a proxy that has not known its marker, while the
// master whose log was switched off is there, or away.
func TestOthersThatAreMarkedAnewKnowOfALogThatWasSwitchedOff(t *testing.T) {
	for name, away := range map[string]bool{"it is there": false, "it is away": true} {
		t.Run(name, func(t *testing.T) {
			inDurableWorld(t, 4, func(w *world) {
				w.masters[0].configure(nil)
				time.Sleep(5 * w.cfg.ProbeInterval)
				if away {
					w.down(1)
				}
				for _, i := range []int{2, 3, 4} {
					w.stop(w.engine)
					w.masters[i-1].restartBlank()
					w.engine = w.start(w.cfg)
					w.noticed(i)
					w.votesWithin(i, 3*time.Second)
					time.Sleep(5 * w.cfg.ProbeInterval)
				}
				before := w.engine.Status().Quarantines
				w.masters[0].restartFromLog()
				w.masters[0].rejoin()
				time.Sleep(3 * w.cfg.ProbeInterval)
				if s := w.engine.Status(); s.Quarantines == before {
					t.Errorf("it is excused, and is %v", w.state(1).State)
				}
			})
		})
	}
}
