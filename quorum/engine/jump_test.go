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

// Another proxy has granted k in database 5, on masters 1 and 2; nobody has looked at the
// clock of 1 since it was set. The first who asks for k here opens that database.
func TestDatabaseThatIsOpenedAfterAJumpDoesNotVoteOnFromBefore(t *testing.T) {
	for name, lost := range map[string]string{"the first loss": "", "after an earlier loss": "before"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				w.bootstrap(w.cfg)
				for _, m := range w.masters {
					m.told(lost)
				}
				other := w.start(w.cfg)
				w.engine = other
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
				w.masters[2].locked(func() { w.masters[2].in(5, func() { delete(w.masters[2].keys, "k") }) })
				w.engine = w.start(w.cfg)
				w.stop(other)
				time.Sleep(3 * w.cfg.ProbeInterval)
				w.want(w.acquire("other", "x", time.Minute), quorum.Won)
				before := w.noncesOf(1)
				w.masters[0].set(func(m *fakeMaster) { m.jumped = time.Hour })
				if r := w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
					t.Errorf("a second holder: %+v", r)
				}
				time.Sleep(w.cfg.AcquireTimeout)
				for db, n := range w.noncesOf(1) {
					if n == before[db] {
						t.Errorf("database %d was told of nothing", db)
					}
				}
			})
		})
	}
}

// told has each marker of a master name the last loss that was told there.
func (m *fakeMaster) told(loss string) {
	for db := range m.databases() {
		m.locked(func() {
			m.in(db, func() {
				k, _ := marker.Parse(m.marker())
				k.Loss = loss
				m.keys[quorum.MarkerKey] = fakeKey{value: k.String()}
			})
		})
	}
}

// Database 5 has seen the clock of master 1 an hour ahead; it was set back, and that
// database cannot be reached, when database 0 is asked next.
func TestJumpSeenInOneDatabaseCountsInAllAtOnce(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "x", TTL: time.Minute}), quorum.Won)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.masters[2].forget("k")
		m := w.masters[0]
		m.set(func(m *fakeMaster) { m.jumped = time.Hour })
		w.wantValues("k", "", "a", "")
		w.put(quorum.Request{Kind: quorum.Read, DB: 5, Key: "other"})
		synctest.Wait()
		m.cut()
		m.set(func(m *fakeMaster) { m.jumped = 0 })
		answering(m, "SELECT", "-ERR not now\r\n")
		m.rejoin()
		for range 20 {
			if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
				t.Fatalf("a second holder: %+v", r)
			}
			time.Sleep(50 * ms)
		}
		if w.engine.Status().Quarantines == 0 {
			t.Error("nobody was told of the jump")
		}
		m.set(func(m *fakeMaster) { m.respond = nil })
		time.Sleep(5 * w.cfg.ProbeInterval)
		w.wantState(1, quorum.Voting, "")
	})
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
			m.rejoin()
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

// One who looks when it is over begins another: he cannot know that it was for the same jump.
func TestClockJumpIsOneQuarantineForAllProxies(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for range 2 {
			w.start(w.cfg)
		}
		m := w.masters[1]
		var last marker.Nonce
		quarantines, again := 0, 0 // and one that begins while another goes on
		m.set(func(m *fakeMaster) {
			m.jumped = time.Minute
			m.after = func(_ []string, m *fakeMaster) {
				n := marker.NonceOf(m.marker())
				if m.using != 0 || n == last {
					return
				}
				if n.Provisional() {
					quarantines++
					if last.Provisional() {
						again++
					}
				}
				last = n
			}
		})
		time.Sleep(10 * w.cfg.ProbeInterval)
		m.locked(func() {
			if quarantines == 0 || again > 0 {
				t.Errorf("it was quarantined %d times, and %d times of these when it was already", quarantines, again)
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
