package engine

import (
	"context"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// The log is asked for in another database while database 0's connection is not there: its
// password is another by now.
func TestLogThatIsSwitchedOffWhileDatabase0CannotBeReachedExcusesNobody(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.closeDatabase0()
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.configure(nil)
		time.Sleep(5 * w.cfg.ProbeInterval)
		w.down(3)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		w.up(3)
		time.Sleep(5 * w.cfg.ProbeInterval)
		m.restartFromLog()
		m.mend()
		w.neverIn(5, "k")
	})
}

// neverIn has a second client ask for what another holds in a database, for a while.
func (w *world) neverIn(db int, key string) {
	w.t.Helper()
	for range 100 {
		if r := w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: key, Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
			w.t.Fatalf("a second holder in database %d: m1 bears %s", db, w.masters[0].markerIn(db))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// While a master is quarantined in database 0 it may vote in others.
func TestLogThatIsSwitchedOffInAQuarantineOfDatabase0ExcusesNobody(t *testing.T) {
	for delay := range 20 {
		inDurableWorld(t, 3, func(w *world) {
			m := w.masters[0]
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
			w.settle()
			time.Sleep(3 * w.cfg.ProbeInterval)
			w.down(3)
			m.set(func(m *fakeMaster) { m.in(0, func() { clear(m.keys) }) }) // FLUSHDB by hand
			time.Sleep(5 * w.cfg.ProbeInterval)
			m.configure(nil)
			time.Sleep(5 * w.cfg.ProbeInterval)
			if told := w.masters[1].markerIn(0); !tellsOfNoLog(t, told, "m1") {
				t.Errorf("nobody was told: %s", told)
			}
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
			w.settle()
			m.cut()
			w.up(3)
			time.Sleep(2 * w.cfg.ProbeInterval)
			m.restartFromLog()
			m.cut()
			time.Sleep(time.Duration(delay) * 50 * ms)
			m.mend()
			w.neverIn(5, "k")
		})
	}
}

// tellsOfNoLog tells that by a marker's text a master writes no log.
func tellsOfNoLog(t *testing.T, text, name string) bool {
	m, err := marker.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Others[name] == marker.NoLog
}

// A disk is restored, and the marker deleted in database 0 alone, where redis-cli is.
func TestMarkerThatIsDeletedInDatabase0TellsOfAllDatabasesOfANewProcess(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
		w.settle()
		old := m.copy()
		w.down(3)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		w.up(3)
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.cut()
		m.restartWith(old)
		m.set(func(m *fakeMaster) {
			m.in(0, func() { delete(m.keys, quorum.MarkerKey) })
			m.settings = durableSettings
		})
		m.mend()
		w.neverIn(5, "k")
	})
}

// Whether its log is whole is asked in several databases at once, and the first answer gives
// that another name.
func TestLogThatGetsAnotherNameMeanwhileIsWholeAllTheSame(t *testing.T) {
	for seed := range 40 {
		inDurableWorld(t, 3, func(w *world) {
			for db := range 4 {
				w.want(w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
			}
			w.settle()
			time.Sleep(3*w.cfg.ProbeInterval + time.Duration(seed)*37*ms)
			for i, m := range w.masters {
				m.set(func(m *fakeMaster) { m.lag = time.Duration((seed*7+i*5)%11) * ms })
				tellingInfo(m, "aof_rewrites:1\r\n")
				m.restartFromLog()
				m.cut()
			}
			for _, m := range w.masters {
				time.Sleep(time.Duration(seed%8) * 50 * ms)
				m.mend()
			}
			time.Sleep(5 * w.cfg.ProbeInterval)
			if n := w.engine.Status().Quarantines; n != 0 {
				t.Errorf("seed %d: %d quarantines", seed, n)
			}
		})
	}
}

// All lose power, and each log is written anew before a proxy looks: database 0's marker
// names another log by then, of which the others have not been told.
func TestLogsThatAreWrittenAnewBeforeAProxyLooksExcuseInEveryDatabase(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.stop(w.engine)
		for _, m := range w.masters {
			m.restartFromLog()
			tellingInfo(m, "aof_rewrites:1\r\n")
		}
		w.engine = w.start(w.cfg)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}), quorum.Contended)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "l", Token: "b", TTL: time.Second}), quorum.Won)
		if n := w.engine.Status().Quarantines; n != 0 {
			t.Errorf("%d quarantines", n)
		}
	})
}

// A master that was started anew may have lost keys before any proxy was let in: its
// configuration file has it evict, or its own replica was promoted meanwhile.
func TestNewProcessThatHasLostKeysByItsOwnWordIsNotExcused(t *testing.T) {
	for _, info := range []string{"has evicted keys", "has been a replica"} {
		t.Run(info, func(t *testing.T) {
			inDurableWorld(t, 3, func(w *world) {
				m := w.masters[0]
				tellingInfo(m, "master_replid:a\r\nmaster_replid2:0000\r\n")
				w.down(3)
				w.want(w.acquire("k", "a", time.Hour), quorum.Won)
				w.settle()
				w.up(3)
				time.Sleep(3 * w.cfg.ProbeInterval)
				m.restartFromLog()
				m.cut()
				m.set(func(m *fakeMaster) {
					if info == "has evicted keys" {
						m.evict("k")
					} else { // its own replica was promoted, and it has been that one's replica since
						delete(m.keys, "k")
						m.info = "master_replid:b\r\nmaster_replid2:c\r\n"
					}
				})
				time.Sleep(2 * time.Second)
				m.mend()
				time.Sleep(5 * w.cfg.ProbeInterval)
				w.neverIn(0, "k")
			})
		})
	}
}

// A log is written anew in another directory right before database 0 is flushed by hand.
func TestLogThatIsLeftBehindInAQuarantineOfDatabase0ExcusesNobody(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.down(3)
		old := m.copy()
		m.set(func(m *fakeMaster) {
			m.written, m.info = &old, "aof_rewrites:1\r\n"
			m.in(0, func() { clear(m.keys) })
		})
		time.Sleep(20 * w.cfg.ProbeInterval)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		m.cut()
		w.up(3)
		time.Sleep(2 * w.cfg.ProbeInterval)
		tellingInfo(m, "")
		m.restartFromLog()
		w.neverIn(5, "k")
	})
}

// A database was closed while the logs were written anew, so that its markers say that there is
// none. All lose power, and one is back later than the others.
func TestAnotherDatabaseTakesNoVoteFromDatabase0(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		for _, m := range w.masters {
			tellingInfo(m, "aof_rewrite_in_progress:1\r\naof_rewrites:1\r\n")
		}
		time.Sleep(4 * w.cfg.ProbeInterval)
		w.stop(w.engine)
		w.engine = w.start(w.cfg)
		for _, m := range w.masters {
			tellingInfo(m, "aof_rewrites:1\r\n")
		}
		time.Sleep(60 * w.cfg.ProbeInterval)
		w.stop(w.engine)
		for _, m := range w.masters {
			tellingInfo(m, "")
			m.restartFromLog()
		}
		w.masters[2].cut()
		w.engine = w.start(w.cfg)
		w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "l", Token: "b", TTL: time.Second})
		time.Sleep(2 * time.Second)
		w.up(3)
		time.Sleep(20 * time.Second)
		r := w.acquire("x", "b", time.Second)
		w.want(r, quorum.Won)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "x", Token: "b", TTL: time.Second}), quorum.Won)
	})
}

// One proxy looks seldom, and has not noticed that it has lost its link to a master, when another
// one tells the others that this writes no log any more.
func TestProxyThatHasLostSightOfAMasterDoesNotUntellThatItsLogIsOff(t *testing.T) {
	for phase := range 6 {
		rnd := rand.New(rand.NewPCG(uint64(phase), 7))
		inDurableWorld(t, 3, func(w *world) {
			var hung atomic.Bool
			m := w.masters[0]
			w.want(w.acquire("before", "a", time.Second), quorum.Won)
			before := make(map[int64]bool)
			m.set(func(m *fakeMaster) {
				for id := range m.conns {
					before[id] = true
				}
			})
			cfg := w.cfg
			cfg.Masters = append([]master.Master(nil), cfg.Masters...)
			cfg.ProbeInterval = 5 * time.Second
			dial := cfg.Masters[0].Dial
			cfg.Masters[0].Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
				if hung.Load() {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return dial(ctx, n, a)
			}
			time.Sleep(time.Duration(rnd.IntN(2000)) * ms)
			for _, m := range w.masters {
				m.set(func(m *fakeMaster) { m.lag = time.Duration(rnd.IntN(40)) * ms })
			}
			w.start(cfg)
			time.Sleep(5*w.cfg.ProbeInterval + time.Duration(rnd.IntN(5000))*ms + 20*time.Second)
			hung.Store(true)
			until := make(chan struct{})
			defer close(until)
			m.set(func(m *fakeMaster) {
				m.behind = make(map[int64]chan struct{})
				for id := range m.conns {
					if !before[id] {
						m.behind[id] = until
					}
				}
			})
			for _, o := range w.masters[1:] {
				tellingInfo(o, "aof_rewrites:1\r\n")
			}
			m.configure(nil)
			told := func() bool {
				return tellsOfNoLog(t, w.masters[1].markerIn(0), "m1") && tellsOfNoLog(t, w.masters[2].markerIn(0), "m1")
			}
			for range 60 {
				if time.Sleep(50 * ms); told() {
					break
				}
			}
			if !told() {
				return
			}
			time.Sleep(30 * time.Second)
			if told() {
				return
			}
			if tellsOfNoLog(t, w.masters[1].markerIn(0), "m1") || tellsOfNoLog(t, w.masters[2].markerIn(0), "m1") {
				return // one of them only
			}
			w.down(3)
			w.want(w.acquire("k", "a", time.Hour), quorum.Won)
			w.settle()
			m.cut()
			time.Sleep(5 * time.Second)
			w.up(3)
			time.Sleep(10 * time.Second)
			m.restartFromLog()
			w.neverIn(0, "k")
		})
	}
}

// Database 0 of no master can be reached, so that nobody can be told.
func TestLogThatAProxyAloneHasSeenSwitchedOffExcusesNobody(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		for _, m := range w.masters {
			m.closeDatabase0()
		}
		m := w.masters[0]
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.configure(nil)
		time.Sleep(20 * w.cfg.ProbeInterval)
		m3 := w.masters[2]
		m3.cut()
		time.Sleep(2 * time.Second)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
		w.settle()
		m.restartFromLog()
		for _, m := range w.masters {
			m.mend()
		}
		w.neverIn(5, "k")
	})
}

// A log is written anew for a moment, while database 0's link is made again.
func TestThatALogIsThereAgainIsTold(t *testing.T) {
	for phase := range 60 {
		inDurableWorld(t, 3, func(w *world) {
			m := w.masters[0]
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
			w.settle()
			time.Sleep(3*w.cfg.ProbeInterval + time.Duration(phase)*20*ms)
			m.set(func(m *fakeMaster) { m.lag = 40 * ms })
			tellingInfo(m, "aof_rewrite_in_progress:1\r\naof_rewrites:1\r\n")
			m.closeDatabase0()
			m.mend() // at once
			time.Sleep(300 * ms)
			m.set(func(m *fakeMaster) { m.lag = 0 })
			tellingInfo(m, "aof_rewrites:1\r\n")
			time.Sleep(time.Minute)
			l := w.engine.zero.lanes[0]
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.unlogged {
				t.Errorf("phase %d: m1 bears %s, m2 is told %s", phase, m.markerIn(0), w.masters[1].markerIn(0))
			}
		})
	}
}

// The disk of a master was restored, its marker deleted in database 0, and a proxy let it vote
// there, and ended before it came to others.
func TestChangeOfTheSetBelievesNoRestoredDisk(t *testing.T) {
	for delay := 14; delay < 26; delay++ {
		inChange(t, moves["one replaced"], func(c *changing) {
			c.old.MaxTTL, c.new.MaxTTL = 5*time.Minute, 5*time.Minute
			for _, m := range c.masters {
				m.set(func(m *fakeMaster) { m.count, m.settings = 2, durableSettings })
			}
			for _, n := range []int{1, 2, 3} {
				m := c.masters[n-1]
				m.mark(marker.Marker{Installation: "old", Member: m.name, Terms: c.old.Terms(), RunID: m.runID, Durable: true})
			}
			c.serve(c.old)
			m := c.masters[0]
			c.want(c.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
			time.Sleep(5 * c.cfg.ProbeInterval)
			old := m.copy()
			c.down(2)
			c.want(c.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: 4 * time.Minute}), quorum.Won)
			c.settle()
			c.up(2)
			time.Sleep(3 * c.cfg.ProbeInterval)
			c.stop(c.engine)
			m.cut()
			m.restartWith(old)
			m.set(func(m *fakeMaster) {
				m.in(0, func() { delete(m.keys, quorum.MarkerKey) })
				m.settings = durableSettings
			})
			m.mend()
			e0 := New(c.old, testLog())
			c.engines = append(c.engines, e0)
			time.Sleep(time.Duration(delay) * 20 * ms)
			c.stop(e0)
			c.masters[2].cut()
			if c.change() != nil {
				return
			}
			c.serve(c.new)
			time.Sleep(2 * time.Second)
			if r := c.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
				t.Errorf("a second holder in database 1; told %q", c.told)
			}
		})
	}
}

func TestChangeOfTheSetBelievesNoNewProcessThatHasLostKeysByItsOwnWord(t *testing.T) {
	for name, lose := range map[string]func(m *fakeMaster){
		"evicted": func(m *fakeMaster) { m.evict("k") },
		"replica": func(m *fakeMaster) { m.info = "master_replid:r1\r\nmaster_replid2:r7\r\n"; delete(m.keys, "k") },
	} {
		t.Run(name, func(t *testing.T) {
			inChange(t, moves["one replaced"], func(c *changing) {
				first := c.masters[0]
				for _, n := range []int{1, 2, 3} {
					c.masters[n-1].set(func(m *fakeMaster) { m.settings = durableSettings })
				}
				c.serve(c.old)
				time.Sleep(3 * c.cfg.ProbeInterval)
				c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
				c.settle()
				c.heldBy("k", "a", 1, 3)
				c.stop(c.engine)
				first.restartFromLog()
				first.set(lose)
				if c.change() != nil {
					return
				}
				c.masters[2].cut()
				if d := c.grants(c.new, "k", "b"); d == quorum.Won {
					c.t.Fatalf("a second holder; told %q", c.told)
				}
			})
		})
	}
}
