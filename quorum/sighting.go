package quorum

import (
	"cmp"
	"time"
)

// A master's keys expire by its wall clock, and a wall clock can be set. How it
// runs beside ours is seen in every batch. All of it is pure.

var started = time.Now()

func sinceStart() time.Duration { return time.Since(started) }

// sighting is one look at a master's clock: it showed the Unix time at somewhen
// between sent and read by our own clock.
type sighting struct{ at, sent, read time.Duration }

// moved is by how much the master's clock has certainly moved against ours from s
// to a later sighting, beyond what drift allows: forward is positive. 0 is a clock
// that runs true as far as can be told. The round trips are allowed for, as neither
// look is more exact than its own.
func (s sighting) moved(later sighting) time.Duration {
	// Looks of lanes side by side may come in another order than they were made.
	slack := drift(max(later.read, s.read) - min(later.sent, s.sent))
	// The difference of the clocks was between these two, and then later ones.
	least, most := s.at-s.read, s.at-s.sent
	if by := later.at - later.read - most; by > slack {
		return by
	}
	if by := later.at - later.sent - least; by < -slack {
		return by
	}
	return 0
}

// anchor is what each look at a master's clock is compared with: all looks before it.
// Two stand for them, the one that leaves the least room above it and the one that
// leaves the least below. What drift allows grows evenly with time, so a look that
// leaves more room than these two today does so for ever. One look alone would be either
// too old, so that what drift allows since hides a step, or so young that a clock that is
// set by a little at a time is never found out.
//
// What may hide. Let q be how long the request of a look was on its way, and r its reply.
// Between any two looks, S apart, a clock has moved by no more than S/100 + 2 ms, and q of
// the earlier and r of the later one, or it is found out. What this costs a lock of ttl T,
// put at 0, that its master grants with a look which was sent by then and is read later:
//
//	its key ends by the master's clock   T + T/100 + 2 ms after the grant
//	that clock has gained by then        at most S/100 + 2 ms + q + r, unseen
//	so another grant is heard            no sooner than T - q + (T-S)/100
//
// The r of the later look is not lost: the other client hears its yes as much later. S is
// T, and q is what the master waited between the SET and the TIME of one batch, where it
// is the same proxy that looks; that is nothing, but for a master that was stopped just
// there. Another proxy has looked for the last time up to a probe interval before the grant
// (1 s): S is by that longer than T, and a step may cost a holder up to 10 ms, and that q.
type anchor struct {
	above, below sighting
	jumped       time.Duration // by how much the clock has since; 0 if it runs true
}

// look compares one more look with all that were before it, and takes it in. It returns
// by how much the clock has jumped since they began, 0 if it runs true. A jump is
// remembered until begin: neither a connection that is lost before the marker tells of
// it, nor a clock that is set back, hides it.
func (a *anchor) look(now sighting) time.Duration {
	if !a.known() {
		a.above, a.below = now, now
	}
	if by := cmp.Or(a.above.moved(now), a.below.moved(now)); by != 0 {
		a.jumped = by
	}
	if a.jumped != 0 {
		return a.jumped
	}
	if now.at-now.sent < a.above.at-a.above.sent+(now.sent-a.above.sent)/100 {
		a.above = now
	}
	if now.at-now.read > a.below.at-a.below.read-(now.sent-a.below.sent)/100 {
		a.below = now
	}
	return 0
}

// known tells that there was a look.
func (a *anchor) known() bool { return a.above != sighting{} }

// begin begins anew with a clock that jumped.
func (a *anchor) begin(now sighting) { *a = anchor{above: now, below: now} }

// vague tells that a look shows too little for anything to rest on it: it took longer
// than any decision does.
func (s sighting) vague(timeout time.Duration) bool { return s.read-s.sent > timeout }

// jump is a jump of a clock as far as looks show it. The zero jump is none.
type jump struct {
	least, most time.Duration // it has jumped by between these, but for drift
	from, to    time.Duration // when the looks were by our clock, the first and the last
	vague       bool          // the last was much less exact than those before it
}

// jump is by how much the clock has jumped, as a look shows.
func (a *anchor) jump(now sighting) jump {
	most, least := a.above.at-a.above.sent, a.below.at-a.below.read
	return jump{
		least: now.at - now.read - most,
		most:  now.at - now.sent - least,
		from:  min(a.above.sent, a.below.sent),
		to:    now.read,
		vague: now.read-now.sent > max(most-least, 0)+sharp,
	}
}

// alike tells whether two clocks may have jumped by the same: by no less exactly than
// they are known, and run beside each other.
func (j jump) alike(k jump) bool {
	long := max(j.to, k.to) - min(j.from, k.from) + min(j.least.Abs(), k.least.Abs())
	return max(j.least-k.most, k.least-j.most) <= drift(long)
}

// together tells whether so many of the masters' clocks seem to have jumped as one of
// them has that it may have been ours.
func together(jumps []jump, as jump, quorum int) bool {
	alike := 0
	for _, other := range jumps {
		if other != (jump{}) && other.alike(as) {
			alike++
		}
	}
	return alike >= quorum
}
