package clock

import (
	"testing"
	"time"
)

// What one lane has sent before another began anew tells nothing, and is no jump back.
func TestLookFromBeforeTheComparisonBeganAnewIsNotCompared(t *testing.T) {
	const s = time.Second
	at := func(clock, sent, read time.Duration) Sample { return Sample{At: clock, Sent: sent, Read: read} }
	w := new(Watch)
	if by := w.Look(at(100*s, 0, 0), 0); by != 0 {
		t.Fatalf("the first look: %v", by)
	}
	if by := w.Look(at(170*s, 10*s, 10*s), 0); by == 0 || w.Found() != 1 {
		t.Fatalf("by %v, %d", by, w.Found())
	}
	w.Settle(1, at(172*s, 11*s, 12*s))
	for name, c := range map[string]struct {
		now     Sample
		settled uint64
		jumped  bool
	}{
		"one from before, of a lane that has not settled it":  {at(109*s, 9*s, 13*s), 0, true},
		"a new one, of a lane that has not":                   {at(174*s, 14*s, 14*s), 0, true},
		"one from before, of a lane that has, does not count": {at(109*s, 9*s, 13*s), 1, false},
		"a new one, of a lane that has":                       {at(174*s, 14*s, 14*s), 1, false},
	} {
		if by := w.Look(c.now, c.settled); (by != 0) != c.jumped {
			t.Errorf("%s: %v", name, by)
		}
	}
	if w.Settle(0, at(0, 15*s, 15*s)); w.Found() != 1 || w.Look(at(176*s, 16*s, 16*s), 1) != 0 {
		t.Error("what was settled already has begun anew once more")
	}
	if w.Look(at(0, 17*s, 17*s), 1) == 0 || w.Found() != 2 {
		t.Error("the next jump was not found")
	}
	if a := w.Anchor(1); a.jumped == 0 {
		t.Error("it is told as one that runs true")
	}
}
