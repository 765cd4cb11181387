package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Each database bears a marker from the first, used or not. So what is lost of one while
// nobody has it open is found out by whoever opens it next:
//
//	1: A wins k in database 5, on masters 1 and 2; its proxy ends
//	2: master 1 is flushed; who finds that out has opened database 0 alone
//	3: master 1 votes again, as it has caught up there
//	4: B asks for k in database 5
//
// Where so many have lost it that the rest cannot tell who holds what, nobody is taken for new.
func TestDatabaseThatIsOpenedKnowsWhoLostItWhileNobodyLooked(t *testing.T) {
	flushed := func(m *fakeMaster) { m.in(5, func() { clear(m.keys) }) } // FLUSHDB by hand
	for name, c := range map[string]struct {
		lose    func(*fakeMaster)
		masters []int // that lose it, in turn
		atOnce  bool
	}{
		"FLUSHALL":                     {forgetAll, []int{1}, false},
		"FLUSHALL twice":               {forgetAll, []int{1, 1}, false},
		"FLUSHDB":                      {flushed, []int{1}, false},
		"FLUSHALL at a quorum":         {forgetAll, []int{1, 2}, false},
		"FLUSHDB at a quorum":          {flushed, []int{1, 2}, false},
		"FLUSHDB at all":               {flushed, []int{1, 2, 3}, false},
		"FLUSHALL at all":              {forgetAll, []int{1, 2, 3}, false},
		"FLUSHDB at all at once":       {flushed, []int{1, 2, 3}, true},
		"FLUSHALL at all at once":      {forgetAll, []int{1, 2, 3}, true},
		"an empty process":             {nil, []int{1}, false},
		"an empty process at a quorum": {nil, []int{1, 2}, false},
	} {
		for whose, later := range map[string]bool{"a proxy that was there": false, "one that begins then": true} {
			t.Run(name+", asked of "+whose, func(t *testing.T) {
				inWorld(t, 3, func(w *world) {
					w.down(3)
					w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: w.cfg.MaxTTL}), quorum.Won)
					ends := time.Now().Add(w.cfg.MaxTTL)
					w.up(3)
					w.stop(w.engine)
					w.engine = w.start(w.cfg)
					for _, n := range c.masters {
						if c.lose == nil {
							w.masters[n-1].restartBlank()
						} else {
							w.masters[n-1].set(c.lose)
						}
						if !c.atOnce {
							time.Sleep(2 * w.cfg.ProbeInterval)
							w.wantState(n, quorum.Voting, "")
						}
					}
					if later {
						w.launch(w.cfg)
					}
					for r := (quorum.Result{}); r.Decision != quorum.Won; time.Sleep(w.cfg.ProbeInterval / 4) {
						r = w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second})
						if r.Decision == quorum.Won && time.Now().Before(ends) {
							t.Errorf("a second holder %v before the first one's time is over", time.Until(ends))
						}
						if time.Since(ends) > 2*w.cfg.FirstTime() {
							t.Fatalf("nobody is given it any more: %+v", r)
						}
					}
				}, briefTTL)
			})
		}
	}
}

// The time of a first start is that of what was written in its one step. What has voted in a
// database since, and was flushed there, waits for its own.
func TestFirstStartThatIsOverAdmitsNobodyWhoWasFlushedSince(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.launch(w.cfg)
		w.wantMarked(w.engine, time.Minute)
		disputed := func(db int) {
			for i, m := range w.masters[:2] {
				m.locked(func() { m.in(db, func() { m.keys["x"] = fakeKey{value: m.name + string(rune('a'+i))} }) })
			}
		}
		disputed(0) // so that master 3 has to wait there
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Second}), quorum.Unavailable)
		w.order(w.engine.Admit("m1"))
		w.order(w.engine.Admit("m2"))
		time.Sleep(3 * w.cfg.ProbeInterval)
		if w.state(3).State == quorum.Voting {
			t.Fatal("master 3 votes in database 0 already")
		}
		first := w.noncesOf(3)[0]
		w.down(2)
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: w.cfg.MaxTTL}), quorum.Won) // on 1 and 3
		ends := time.Now().Add(w.cfg.MaxTTL)
		w.settle()
		w.up(2)
		disputed(5)
		w.masters[2].locked(func() { w.masters[2].in(5, func() { clear(w.masters[2].keys) }) }) // FLUSHDB by hand
		for w.noncesOf(3)[0] == first {
			time.Sleep(w.cfg.ProbeInterval / 4)
		}
		if !time.Now().Before(ends) {
			t.Fatal("the first start is over too late")
		}
		w.down(1)
		if r := w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}); r.Decision == quorum.Won {
			t.Errorf("a second holder: %v", w.noncesOf(3))
		}
	})
}

// Each master comes back blank, one after the other, while database 0 alone is open: in the
// others they remember all the same, in those that hold locks and those that hold none.
func TestDatabasesThatNobodyUsesAreHealedAsWell(t *testing.T) {
	for name, lose := range map[string]func(*fakeMaster){
		"an empty process": (*fakeMaster).restartBlank,
		"FLUSHALL":         func(m *fakeMaster) { m.set(forgetAll) },
		"FLUSHDB of one":   func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.in(5, func() { clear(m.keys) }) }) },
		"FLUSHDB of all but 0": func(m *fakeMaster) {
			m.set(func(m *fakeMaster) {
				for db := 1; db < quorum.Databases; db++ {
					m.in(db, func() { clear(m.keys) })
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
				w.stop(w.engine)
				w.engine = w.start(w.cfg)
				w.launch(w.cfg)
				time.Sleep(2 * w.cfg.ProbeInterval)
				for i, m := range w.masters {
					before := w.noncesOf(i + 1)
					lose(m)
					time.Sleep(8 * w.cfg.ProbeInterval)
					for db, n := range w.noncesOf(i + 1) {
						if n == "" || n.Provisional() || db == 5 && n == before[db] {
							t.Errorf("master %d has %q in database %d, before %q", i+1, n, db, before[db])
						}
					}
				}
				for _, m := range w.masters {
					if v := m.valueOf("k@5"); v != "a" {
						t.Errorf("%s holds %q", m.name, v)
					}
				}
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}), quorum.Contended)
				w.want(w.asked(6, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}), quorum.Won)
			})
		})
	}
}

// Were it found out when a client opens one of them, a second master might have forgotten by then.
func TestSwapOfDatabasesThatNobodyUsesIsNoticed(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, db := range []int{5, 6} {
			w.want(w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: fmt.Sprint(db), TTL: time.Hour}), quorum.Won)
		}
		w.settle()
		w.stop(w.engine)
		w.engine = w.start(w.cfg)
		time.Sleep(2 * w.cfg.ProbeInterval)
		w.masters[0].set(func(m *fakeMaster) { m.swap(5, 6) })
		time.Sleep(8 * w.cfg.ProbeInterval)
		for _, db := range []int{5, 6} {
			text := w.masters[0].markerIn(db)
			if m, err := marker.Parse(text); err != nil || m.DB != db || m.Nonce.Provisional() {
				t.Errorf("database %d: %s", db, text)
			}
		}
		w.masters[1].restartBlank()
		time.Sleep(8 * w.cfg.ProbeInterval)
		for _, db := range []int{0, 5, 6} {
			w.want(w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "l", Token: "b", TTL: time.Second}), quorum.Won)
		}
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}), quorum.Contended)
		w.want(w.asked(6, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}), quorum.Contended)
	})
}

// A few are opened at a time, and none stays open that nobody uses; of those that clients use
// meanwhile none is closed.
func TestDatabasesThatAreHealedAreOpenForAWhileAndAFewAtATime(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].restartBlank()
		most := 0
		for end := time.Now().Add(30 * w.cfg.ProbeInterval); time.Now().Before(end); time.Sleep(10 * ms) {
			synctest.Wait() // it may be opening and closing some at this instant
			n := len(w.engine.tended())
			most = max(most, n)
			if n == tendedAtOnce && len(w.engine.opened()) == n {
				db := w.engine.tended()[0].number()
				w.want(w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Hour}), quorum.Won)
			}
		}
		if most < 2 || most > tendedAtOnce {
			t.Errorf("%d were open at once", most)
		}
		if list := w.engine.opened(); len(list) != 1 || list[0].unused() {
			t.Errorf("%d are open in the end", len(list))
		}
		if s := w.state(1); s.State != quorum.Voting || s.Elsewhere != nil {
			t.Errorf("%+v", s)
		}
	})
}

// What takes max-ttl takes it in all of them at one time, and an order by hand is about all.
func TestDatabasesThatNobodyUsesWaitSideBySide(t *testing.T) {
	for name, byHand := range map[string]bool{"left alone": false, "admitted by hand": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[0].restartBlank()
				w.masters[1].restartBlank()
				within := w.cfg.QuarantineTime() + 12*w.cfg.ProbeInterval
				if byHand {
					time.Sleep(3 * w.cfg.ProbeInterval)
					w.order(w.engine.Admit("m1"))
					w.order(w.engine.Admit("m2"))
					within = 3 * w.cfg.ProbeInterval
				}
				time.Sleep(within)
				for n := 1; n <= 2; n++ {
					for db, is := range w.noncesOf(n) {
						if is.Provisional() {
							t.Errorf("master %d has %q in database %d", n, is, db)
						}
					}
				}
			}, briefTTL)
		})
	}
}
