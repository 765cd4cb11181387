package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

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
		m.rejoin()
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
				m.rejoin()
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
				m.rejoin()
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
