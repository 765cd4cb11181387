package quorum

import (
	"testing"
	"time"
)

// Other databases are engines of their own. They end with the first one: if they
// did not, synctest would find their goroutines.
func TestDatabasesEndWithTheEngine(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		if err := w.engine.Open(3); err != nil {
			t.Fatal(err)
		}
		w.want(w.ask(Request{Kind: Acquire, DB: 3, Key: "k", Token: "t", TTL: time.Minute}), Won)
		for _, m := range w.masters {
			if got := m.commands("SELECT"); len(got) != 1 || got[0] != "SELECT 3" {
				t.Errorf("%s was told %q", m.name, got)
			}
		}
		s := w.engine.Status()
		if s.Decisions[Acquire][Won] != 1 || len(s.Masters) != 3 {
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
