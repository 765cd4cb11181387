package engine

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// Other databases are engines of their own. They end with the first one: if they
// did not, synctest would find their goroutines.
func TestDatabasesEndWithTheEngine(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		if err := w.engine.Open(3); err != nil {
			t.Fatal(err)
		}
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: 3, Key: "k", Token: "t", TTL: time.Minute}), quorum.Won)
		for _, m := range w.masters {
			if got := m.commands("SELECT"); len(got) != 1 || got[0] != "SELECT 3" {
				t.Errorf("%s was told %q", m.name, got)
			}
		}
		s := w.engine.Status()
		if s.Decisions[quorum.Acquire][quorum.Won] != 1 || len(s.Masters) != 3 {
			t.Errorf("%+v", s)
		}
	})
}

func TestDatabaseThatTheMastersDoNotHaveIsAnError(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters {
			answering(m, "SELECT", "-ERR DB index is out of range\r\n")
		}
		if err := w.engine.Open(9); err == nil || err.Error() != "ERR DB index is out of range" {
			t.Errorf("Open: %v", err)
		}
	})
}

// Master 3 is away when database 9 is opened, and comes back with fewer databases.
func TestMasterWithFewerDatabasesIsToldOf(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.masters[2].set(func(m *fakeMaster) { m.count = 4 })
		w.down(3)
		w.want(w.asked(9, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
		w.up(3)
		w.settle()
		s := w.state(3)
		if s.State != quorum.Voting || len(s.Elsewhere) != 1 || s.Elsewhere[0].DB != 9 || s.Elsewhere[0].State != quorum.Down ||
			!strings.HasPrefix(s.Elsewhere[0].Reason, "it has no database 9: start all masters") {
			t.Errorf("%+v", s)
		}
		if err := w.engine.Open(9); err == nil || err.Error() != "ERR DB index is out of range" {
			t.Errorf("Open: %v", err)
		}
		w.want(w.ask(quorum.Request{Kind: quorum.Release, DB: 9, Key: "k", Token: "a"}), quorum.Won)
		if err := w.engine.Open(3); err != nil {
			t.Errorf("Open: %v", err)
		}
		time.Sleep(time.Minute)
		w.engine.Open(8)
		time.Sleep(time.Minute)
		if found := log.lines("fewer databases"); len(found) != 1 || !strings.Contains(found[0], "master=m3") || !strings.Contains(found[0], "database=9") {
			t.Errorf("%q", found)
		}
		if err := w.engine.Refusal(); err != nil {
			t.Errorf("it is refused for good: %v", err)
		}
	})
}

// Where they all have as few, there is nothing to tell.
func TestMastersWithEquallyFewDatabasesAreNotToldOf(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.count = 4 }) }, 1, 2, 3)
		if err := w.engine.Open(4); err == nil {
			t.Error("it was opened")
		}
		if err := w.engine.Open(3); err != nil {
			t.Errorf("Open: %v", err)
		}
		time.Sleep(time.Minute)
		if found := log.lines("databases"); found != nil {
			t.Errorf("%q", found)
		}
		for _, m := range w.masters {
			if n := len(m.commands("SELECT")); n > 15 { // of which some are looks for what never ends
				t.Errorf("%s was asked %d times in a minute", m.name, n)
			}
		}
	})
}

func TestDatabasesHoldKeysOfTheirOwn(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		if err := w.engine.Open(5); err != nil {
			t.Fatal(err)
		}
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: 5, Key: "k", Token: "b", TTL: time.Minute}), quorum.Won)
		w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: 5, Key: "k", Token: "c", TTL: time.Minute}), quorum.Contended)
		w.wantValues("k", "a", "a", "a")
		w.masters[0].swap(0, 5)
		w.wantValues("k", "b", "a", "a")
	})
}

// A proxy that is told to end may not have tried all masters yet, and never will.
func TestNobodyWaitsForADatabaseOfAnEndingProxy(t *testing.T) {
	for range 5 {
		inWorld(t, 3, func(w *world) {
			d := w.engine.use(3)
			ended, end := contextOf(0)
			defer end()
			w.engine.Close(ended)
			select {
			case <-d.tried:
			default:
				t.Fatal("who opens it waits for ever")
			}
		})
	}
}
