package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// A backup is put back key by key, or databases are swapped and swapped back: the process is the
// same, and its marker one by which it has voted.
func TestMarkerThatWasReplacedIsNotBelievedAgain(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		m := w.masters[0]
		backup := m.value(quorum.MarkerKey)
		m.forget(quorum.MarkerKey)
		w.noticed(1)
		w.votesWithin(1, 3*time.Second)
		w.down(3)
		w.want(w.acquire("k", "a", time.Hour), quorum.Won) // on 1 and 2
		w.up(3)
		m.set(func(m *fakeMaster) {
			delete(m.keys, "k")
			m.keys[quorum.MarkerKey] = fakeKey{value: backup}
		})
		time.Sleep(3 * w.cfg.ProbeInterval)
		w.wantState(1, quorum.Voting, "")
		if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
			t.Errorf("a second holder: %+v", r)
		}
		w.wantValues("k", "a", "a", "")
	})
}

func TestLatestOfThePastIsRemembered(t *testing.T) {
	var p past
	nonce := func(i int) marker.Nonce { return marker.Nonce(fmt.Sprintf("v%016x", i)) }
	for i := range maxPast + 3 {
		if p.replaced(nonce(i)) || p.replaced(p.now) {
			t.Errorf("%d is taken for an old one", i)
		}
	}
	for i, want := range map[int]bool{2: true, 100: true, maxPast + 1: true, maxPast + 2: false} {
		if p.replaced(nonce(i)) != want {
			t.Errorf("%d is old: %v", i, !want)
		}
	}
	if p.replaced("") || !p.replaced(nonce(maxPast+2)) {
		t.Error("what was gone is believed again")
	}
}
