package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// In a database that all have lost nothing is advised that does nothing.
func TestDatabaseThatAllHaveLostNamesNoAdviceThatDoesNothing(t *testing.T) {
	for _, db := range []int{0, 5} {
		t.Run(fmt.Sprint(db), func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				time.Sleep(3 * w.cfg.ProbeInterval)
				for _, m := range w.masters {
					m.set(func(m *fakeMaster) { m.in(db, func() { clear(m.keys) }) })
				}
				time.Sleep(3 * w.cfg.ProbeInterval)
				ask := func() quorum.Result {
					return w.asked(db, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second})
				}
				r := ask()
				begins := fmt.Sprintf("all masters are marked, and none has voted yet: what was granted in database %d is lost; locks from ", db)
				for range 5 { // the database may have been looked at just while it was cleared
					if strings.HasPrefix(r.Why, begins) {
						break
					}
					time.Sleep(w.cfg.ProbeInterval)
					r = ask()
				}
				if !strings.HasPrefix(r.Why, begins) || !strings.HasSuffix(r.Why, ", or at once after LOCK ADMIT of 2 of them, which needs the right to @operate") {
					t.Errorf("%q", r.Why)
				}
				w.order(w.engine.Admit("m1"))
				w.order(w.engine.Admit("m3"))
				time.Sleep(w.cfg.ProbeInterval)
				w.want(ask(), quorum.Won)
			})
		})
	}
}

// That a database has no quorum is told once somebody asks for something there.
func TestLossOfAQuorumIsToldOfDatabasesInUseAlone(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		time.Sleep(2 * w.cfg.ProbeInterval)
		for _, m := range w.masters {
			m.set(func(m *fakeMaster) { m.in(5, func() { clear(m.keys) }) })
		}
		time.Sleep(4 * w.cfg.ProbeInterval)
		if n := len(w.engine.tended()); n != 1 {
			t.Errorf("%d databases are open", n)
		}
		if found := log.lines("no quorum"); found != nil {
			t.Errorf("%q", found)
		}
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Second}), quorum.Unavailable)
		time.Sleep(w.cfg.ProbeInterval)
		if found := log.lines("no quorum"); len(found) != 1 || !strings.Contains(found[0], "database=5") {
			t.Errorf("%q", found)
		}
	})
}

// That all vote again is said of masters that are there, and of databases that had lost
// something.
func TestThatAllVoteAgainIsSaidOnceTheyDo(t *testing.T) {
	const said = "all masters vote again"
	operated(t, func(w *world, log *logged) {
		m := w.masters[0]
		m.restartBlank()
		for nonces := w.noncesOf(1); !slices.ContainsFunc(nonces[1:], func(n marker.Nonce) bool { return n != "" && !n.Provisional() }); nonces = w.noncesOf(1) {
			time.Sleep(w.cfg.ProbeInterval / 16)
		}
		w.down(1)
		time.Sleep(20 * w.cfg.ProbeInterval)
		if found := log.lines(said); len(found) != 0 {
			t.Errorf("master 1 is away, and it is said: %q", found)
		}
		w.up(1)
		time.Sleep(time.Minute)
		if found := log.lines(said); len(found) != 1 || !strings.Contains(found[0], "databases=15") {
			t.Errorf("it is said: %q", found)
		}
		m.set(func(m *fakeMaster) { m.in(7, func() { clear(m.keys) }) })
		time.Sleep(time.Minute)
		if found := log.lines(said); len(found) != 2 || !strings.Contains(found[1], "databases=1") {
			t.Errorf("it is said: %q", found)
		}
	})
}

// Who votes by an operator's word remembers no more than before.
func TestWhoIsAdmittedByHandIsNotSaidToRemember(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.masters[0].restartBlank()
		w.masters[1].restartBlank()
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.order(w.engine.Admit("m1"))
		w.order(w.engine.Admit("m2"))
		time.Sleep(6 * w.cfg.ProbeInterval)
		if found := log.lines("all masters vote again"); len(found) != 1 {
			t.Errorf("it is said: %q", found)
		}
		if found := log.lines("remember"); len(found) != 0 {
			t.Errorf("it is said: %q", found)
		}
	})
}
