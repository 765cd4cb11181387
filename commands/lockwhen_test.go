package commands

import (
	"testing"
	"time"
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
