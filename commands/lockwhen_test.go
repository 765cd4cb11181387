package commands

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// TestLockIsToldOfAsOfWhenTheMastersWereAsked: other proxies are waited for after that.
func TestLockIsToldOfAsOfWhenTheMastersWereAsked(t *testing.T) {
	w, d := newWatcher()
	other, colleague := newWatcher()
	other.seen.Note(taken("k", "secret"))
	w.others, w.slow = []*Dialect{colleague}, time.Second
	r := inform(d, "k", stringHeld("secret"), hasKey("string", "secret"), hasKey("string", "secret"), nil)
	for name, at := range map[string]time.Duration{"since": 50 * time.Second, "until": 79 * time.Second} {
		if want := stamp(w.Wall(at)); told(r, name) != want {
			t.Errorf("%s is %s, want %s", name, told(r, name), want)
		}
	}
}

// TestWithoutAQuorumNobodySaysThatNoneHoldsIt: the one that was heard may be one of it.
func TestWithoutAQuorumNobodySaysThatNoneHoldsIt(t *testing.T) {
	_, d := newWatcher()
	for decision, want := range map[quorum.Decision]string{quorum.Unavailable: "a value, it is not known whether a quorum holds it", quorum.Split: "a value that no quorum holds"} {
		read := quorum.Result{Decision: decision, Voted: 1, Masters: 3}
		if on := told(inform(d, "k", read, hasKey("string", "t"), nil, nil), "masters"); !strings.Contains(on, want) {
			t.Errorf("%v: %s", decision, on)
		}
	}
}
