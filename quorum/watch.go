package quorum

import (
	"sync"
	"time"
)

// watch is the anchor of one master, which its lanes of all databases share: whatever one
// of them has seen of its clock is seen by all, also by one of a database that was just
// opened. What a jump means is for each of them to settle, as its database has a marker
// of its own:
//
//	1: A wins k in database 5 by another proxy, on masters 1 and 2
//	2: the clock of 1 is set an hour ahead, and it forgets k; nobody has looked since
//	3: B asks this proxy for k, which opens database 5 for that: its marker on 1 is right,
//	   and a lane that looks at that clock for the first time has nothing to compare with
type watch struct {
	mu     sync.Mutex // guards what follows
	anchor anchor
	jumps  uint64        // how many were found
	by     time.Duration // the last
	last   jump          // the same, as the latest look shows it
	begun  time.Duration // when the look ended with which it began anew
}

// look has a lane look at the clock that has settled so many of its jumps. It returns by
// how much the clock has jumped since then, 0 if it runs true.
func (w *watch) look(now sighting, settled uint64) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	// What one lane sent before another began anew would seem a jump back. The votes of
	// it do not count: its lane has not settled that jump.
	if now.sent >= w.begun {
		was := w.anchor.jumped
		if by := w.anchor.look(now); by != 0 {
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

// found is how many jumps were found.
func (w *watch) found() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jumps
}

// latest is the last jump.
func (w *watch) latest() jump {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// settle begins anew with a look, unless another lane has since the jump.
func (w *watch) settle(jump uint64, now sighting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.anchor.jumped != 0 && w.jumps == jump {
		w.anchor.begin(now)
		w.begun = now.read
	}
}

// seen is the anchor for one who has settled so many jumps.
func (w *watch) seen(settled uint64) anchor {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.anchor
	if w.jumps != settled {
		a.jumped = w.by
	}
	return a
}

// sighted is what is known of the master's clock, for others than the lane's goroutine.
func (l *lane) sighted() anchor { return l.watch.seen(l.settledJumps.Load()) }

// look compares one more look at the master's clock with all before.
func (l *lane) look(now sighting) time.Duration {
	l.jumped = l.watch.look(now, l.settledJumps.Load())
	return l.jumped
}

// settleJump begins anew with a clock that jumped before the marker was last asked for:
// the marker tells of it, or it was ours. A later jump is not settled by that.
func (l *lane) settleJump(now sighting) {
	l.watch.settle(l.met, now)
	l.settledJumps.Store(l.met)
	l.anew = time.Now()
}

// clockTold is what a lane had settled of its master's clock when it last knew its marker.
type clockTold struct {
	jumps uint64
	loss  string // that the marker named
}

// knows notes the marker that stands. mu is held.
func (l *lane) knows(m marker) {
	l.known = m
	l.clockTold = clockTold{l.settledJumps.Load(), m.Loss}
}

// follow has the lane of a database that is opened know of its master's clock what that of
// database 0 does: it has been told of no loss that the other has not.
func (l *lane) follow(root *lane) {
	l.watch = root.watch
	root.mu.Lock()
	defer root.mu.Unlock()
	l.settledJumps.Store(root.clockTold.jumps)
	l.known.Loss = root.clockTold.loss
}
