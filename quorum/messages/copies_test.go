package messages

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The window against a set that forgets nothing, on numbers that jump about.
func TestFirstCopyIsFirstOnce(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s copies
		all := make(map[uint64]bool)
		last, base := uint64(0), uint64(1)
		for range 50_000 {
			switch r.IntN(1000) {
			case 0:
				base += uint64(r.IntN(3 * windowSize))
			default:
				base += uint64(r.IntN(3))
			}
			number := base - min(base-1, uint64(r.IntN(200)))
			if r.IntN(100) == 0 {
				number = base - min(base-1, uint64(r.IntN(2*windowSize)))
			}
			want := !all[number] && (number > last || last-number < windowSize)
			if got := s.first("s", number); got != want {
				t.Fatalf("seed %d: number %d after %d: first %v, want %v", seed, number, last, got, want)
			}
			all[number], last = true, max(last, number)
		}
	}
}

func TestSendersAreToldApart(t *testing.T) {
	var s copies
	for _, sender := range []string{"a", "b"} {
		if !s.first(sender, math.MaxUint64) || s.first(sender, math.MaxUint64) {
			t.Errorf("sender %s", sender)
		}
	}
}

func TestSilentSenderIsForgottenFirst(t *testing.T) {
	var s copies
	s.first("silent", 1)
	s.first("loud", 1)
	for i := range maxSenders - 1 {
		s.first(fmt.Sprint(i), 1)
		s.first("loud", uint64(i+2))
	}
	if len(s.bySender) != maxSenders || s.order.Len() != maxSenders {
		t.Errorf("%d and %d senders are remembered", len(s.bySender), s.order.Len())
	}
	if s.first("loud", 1) {
		t.Error("the one that was heard all the time was forgotten")
	}
	if !s.first("silent", 1) {
		t.Error("the silent one was remembered")
	}
}
