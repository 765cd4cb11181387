package quorum

import (
	"testing"
	"time"
)

// The log is asked for in another database while database 0's connection is not there: its
// password is another by now.
func TestLogThatIsSwitchedOffWhileDatabase0CannotBeReachedExcusesNobody(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		w.want(w.asked(5, Request{Kind: Acquire, Key: "before", Token: "a", TTL: time.Second}), Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.closeDatabase0()
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.configure(nil)
		time.Sleep(5 * w.cfg.ProbeInterval)
		w.down(3)
		w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Hour}), Won)
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
		if r := w.asked(db, Request{Kind: Acquire, Key: key, Token: "b", TTL: time.Minute}); r.Decision == Won {
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
			w.want(w.asked(5, Request{Kind: Acquire, Key: "before", Token: "a", TTL: time.Second}), Won)
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
			w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Hour}), Won)
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
	m, err := parseMarker(text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Others[name] == noLog
}

// A disk is restored, and the marker deleted in database 0 alone, where redis-cli is.
func TestMarkerThatIsDeletedInDatabase0TellsOfAllDatabasesOfANewProcess(t *testing.T) {
	inDurableWorld(t, 3, func(w *world) {
		m := w.masters[0]
		w.want(w.asked(5, Request{Kind: Acquire, Key: "before", Token: "a", TTL: time.Second}), Won)
		w.settle()
		old := m.copy()
		w.down(3)
		w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Hour}), Won)
		w.settle()
		w.up(3)
		time.Sleep(3 * w.cfg.ProbeInterval)
		m.cut()
		m.restartWith(old)
		m.set(func(m *fakeMaster) {
			m.in(0, func() { delete(m.keys, MarkerKey) })
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
				w.want(w.asked(db, Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Hour}), Won)
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
		w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Hour}), Won)
		w.settle()
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.stop(w.engine)
		for _, m := range w.masters {
			m.restartFromLog()
			tellingInfo(m, "aof_rewrites:1\r\n")
		}
		w.engine = w.start(w.cfg)
		w.want(w.asked(5, Request{Kind: Acquire, Key: "k", Token: "b", TTL: time.Second}), Contended)
		w.want(w.asked(5, Request{Kind: Acquire, Key: "l", Token: "b", TTL: time.Second}), Won)
		if n := w.engine.Status().Quarantines; n != 0 {
			t.Errorf("%d quarantines", n)
		}
	})
}
