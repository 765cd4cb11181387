package clock

import (
	"sync"
	"time"
)

// Watch is the anchor of one master, which its lanes of all databases share: whatever one
// of them has seen of its clock is seen by all, also by one of a database that was just
// opened. What a jump means is for each of them to settle, as its database has a marker
// of its own:
//
//	1: A wins k in database 5 by another proxy, on masters 1 and 2
//	2: the clock of 1 is set an hour ahead, and it forgets k; nobody has looked since
//	3: B asks this proxy for k, which opens database 5 for that: its marker on 1 is right,
//	   and a lane that looks at that clock for the first time has nothing to compare with
type Watch struct {
	mu     sync.Mutex // guards what follows
	anchor Anchor
	jumps  uint64        // how many were found
	by     time.Duration // the last
	last   Jump          // the same, as the latest look shows it
	begun  time.Duration // when the look ended with which it began anew
}

// Look has a lane look at the clock that has settled so many of its jumps. It returns by
// how much the clock has jumped since then, 0 if it runs true.
func (w *Watch) Look(now Sample, settled uint64) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	// What one lane sent before another began anew would seem a jump back. The votes of
	// it do not count: its lane has not settled that jump.
	if now.Sent >= w.begun {
		was := w.anchor.jumped
		if by := w.anchor.Look(now); by != 0 {
			w.by, w.last = by, w.anchor.jump(now)
			if was == 0 {
				w.jumps++
			}
		}
	}
	if w.jumps == settled {
		return 0
	}
	return w.by
}

// Found is how many jumps were found so far. Who has settled so many has settled all.
func (w *Watch) Found() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jumps
}

// Latest is the last jump, as the latest look shows it; zero if there was none.
func (w *Watch) Latest() Jump {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Settle begins anew with a look after the jump of this number, unless another lane has, or
// there was another jump since.
func (w *Watch) Settle(jump uint64, now Sample) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.anchor.jumped != 0 && w.jumps == jump {
		w.anchor.begin(now)
		w.begun = now.Read
	}
}

// Anchor is a copy of the anchor, as of now, for one who has settled so many jumps: if there were
// more, its clock has jumped.
func (w *Watch) Anchor(settled uint64) Anchor {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.anchor
	if w.jumps != settled {
		a.jumped = w.by
	}
	return a
}
