package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// asked is what is decided in a database.
func (w *world) asked(db int, r quorum.Request) quorum.Result {
	w.t.Helper()
	if err := w.engine.Open(db); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	r.DB = db
	return w.ask(r)
}

// noncesOf are those of the markers in each database of a master, counted from 1.
func (w *world) noncesOf(number int) (list [quorum.Databases]marker.Nonce) {
	for db := range list {
		list[db] = marker.NonceOf(w.masters[number-1].markerIn(db))
	}
	return list
}

// Database 1 is in use by nobody while one master after the other loses what it held.
func TestLossHoldsForDatabasesThatNobodyUses(t *testing.T) {
	for name, lose := range map[string]func(*fakeMaster){
		"a clock that jumps": func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.jumped += 5 * time.Minute }) },
		"a new process that has read an old dump": func(m *fakeMaster) {
			old := m.copy()
			delete(old[1], "k")
			m.restartWith(old)
		},
		"databases that were swapped": func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.swap(1, 0) }) },
		"what another master held": func(m *fakeMaster) {
			m.set(func(m *fakeMaster) {
				m.flushAll()
				m.keys[quorum.MarkerKey] = fakeKey{value: testMarker(func(k *marker.Marker) {
					k.Installation, k.Member, k.Terms, k.RunID = "test", "m9", testTerms(), "elsewhere"
				}).String()}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
				w.masters[2].locked(func() { w.masters[2].in(1, func() { delete(w.masters[2].keys, "k") }) })
				w.stop(w.engine)
				w.engine = w.start(w.cfg)
				time.Sleep(3 * w.cfg.ProbeInterval)
				for i, m := range w.masters[:2] {
					before := w.noncesOf(i + 1)
					lose(m)
					time.Sleep(5 * w.cfg.ProbeInterval)
					w.wantState(i+1, quorum.Voting, "")
					if n := w.noncesOf(i + 1); n[1] == before[1] {
						t.Errorf("%s is trusted in database 1: %v", m.name, n)
					}
				}
				if r := w.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}); r.Decision == quorum.Won {
					t.Errorf("a second holder: %+v", r)
				}
			})
		})
	}
}

func testTerms() marker.Terms {
	cfg := testConfig()
	for _, name := range []string{"m1", "m2", "m3"} {
		cfg.Masters = append(cfg.Masters, master.Master{Name: name})
	}
	return cfg.Terms()
}

func TestMarkerThatIsGoneTellsOfItsDatabaseAlone(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
		m, before := w.masters[0], w.noncesOf(1)
		m.locked(func() { m.in(5, func() { clear(m.keys) }) })
		time.Sleep(w.cfg.ProbeInterval + 50*ms)
		s := w.state(1)
		if s.State != quorum.Voting || len(s.Elsewhere) != 1 || s.Elsewhere[0].DB != 5 {
			t.Errorf("it is %+v", s)
		}
		for db, n := range w.noncesOf(1) {
			if (n != before[db]) != (db == 5) {
				t.Errorf("database %d: %s, before %s", db, n, before[db])
			}
		}
	})
}

// Each database that is in use shows a jump to each proxy, and it is told once.
func TestLossIsToldOnceForAllDatabasesAndProxies(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		other := w.start(w.cfg)
		for _, e := range []*Engine{w.engine, other} {
			for _, db := range []int{3, 7} {
				if err := e.Open(db); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(3 * w.cfg.ProbeInterval)
		m, losses := w.masters[1], make(map[string]bool)
		m.set(func(m *fakeMaster) {
			m.jumped = time.Minute
			m.after = func(_ []string, m *fakeMaster) {
				for db := range m.databases() {
					m.in(db, func() {
						if k, err := marker.Parse(m.marker()); err == nil && k.Loss != "" {
							losses[k.Loss] = true
						}
					})
				}
			}
		})
		time.Sleep(10 * w.cfg.ProbeInterval)
		m.locked(func() {
			if len(losses) != 1 {
				t.Errorf("it was told %d times", len(losses))
			}
		})
		for i, e := range []*Engine{w.engine, other} {
			if s := e.Status().Masters[1]; s.State != quorum.Voting || s.Elsewhere != nil {
				t.Errorf("engine %d: %+v", i, s)
			}
		}
	})
}

func TestLossReplacesWhatIsOursInOtherDatabases(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		m := w.masters[0]
		quarantined := w.noncesOf(1)
		write := func(db int, change func(*marker.Marker)) {
			m.locked(func() {
				m.in(db, func() {
					k, _ := marker.Parse(m.marker())
					change(&k)
					m.keys[quorum.MarkerKey] = fakeKey{value: k.String()}
				})
			})
		}
		write(1, func(k *marker.Marker) { k.Nonce = marker.NewNonce(true) }) // may have copied what is lost now
		write(2, func(k *marker.Marker) { k.Changing = true })
		write(3, func(k *marker.Marker) { k.Installation = "another" })
		m.locked(func() { m.in(4, func() { clear(m.keys) }) })
		quarantined = w.noncesOf(1)
		m.set(func(m *fakeMaster) { m.jumped = time.Minute })
		for w.noncesOf(1)[0] == quarantined[0] {
			time.Sleep(10 * ms)
		}
		for db, n := range w.noncesOf(1) {
			spared := db == 2 || db == 3
			if (n == quarantined[db]) != spared || db != 0 && n.Provisional() == spared {
				t.Errorf("database %d: %s, before %s", db, n, quarantined[db])
			}
		}
		if k, err := marker.Parse(m.markerIn(6)); err != nil || k.Was != quarantined[6] || k.DB != 6 {
			t.Errorf("%+v, %v", k, err)
		}
	})
}

// Database 5 is opened long after its master came back: what has happened in other
// databases of the same process since is not undone.
func TestNewProcessIsNoNewsToDatabasesThatKnowIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters {
			m.locked(func() {
				m.in(5, func() {
					k, _ := marker.Parse(m.marker())
					k.RunID = "before"
					m.keys[quorum.MarkerKey] = fakeKey{value: k.String()}
				})
			})
		}
		before := w.noncesOf(1)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Unavailable)
		for i := range w.masters {
			w.wantState(i+1, quorum.Voting, "")
		}
		for db, n := range w.noncesOf(1) {
			if (n != before[db]) != (db == 5) {
				t.Errorf("database %d: %s, before %s", db, n, before[db])
			}
		}
	})
}

// The markers of a running set are those of an older program, which named no database.
func TestMarkersOfAnOlderProgramAreTakenAsTheyAre(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.stop(w.engine)
		for _, m := range w.masters {
			for db := range m.databases() {
				m.locked(func() {
					m.in(db, func() {
						m.keys[quorum.MarkerKey] = fakeKey{value: unnamed(m.marker())}
					})
				})
			}
		}
		before := w.noncesOf(1)
		w.engine = w.start(w.cfg)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
		time.Sleep(2 * w.cfg.ProbeInterval)
		if s := w.engine.Status(); s.Quarantines != 0 {
			t.Errorf("%d quarantines began", s.Quarantines)
		}
		if after := w.noncesOf(1); after != before {
			t.Errorf("nonces are %v, were %v", after, before)
		}
		// They name it from now on.
		for db := range quorum.Databases {
			if named := strings.Contains(w.masters[0].markerIn(db), `"db":`); named != (db == 0 || db == 5) {
				t.Errorf("database %d: %s", db, w.masters[0].markerIn(db))
			}
		}
	})
}

// unnamed is a marker as an older program has written it.
func unnamed(text string) string {
	from := strings.Index(text, `"db":`)
	return text[:from] + text[from+strings.Index(text[from:], ",")+1:]
}

func testMarker(change ...func(*marker.Marker)) marker.Marker {
	m := marker.Marker{
		Nonce:        "v0123456789abcdef",
		Installation: "i",
		Member:       "a",
		Terms:        marker.Terms{Set: []string{"a", "b", "c"}, AcquireTimeout: 250, MaxTTL: 300_000},
		RunID:        "r1",
	}
	for _, c := range change {
		c(&m)
	}
	return m
}
