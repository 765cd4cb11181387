package clock

import (
	"cmp"
	"time"
)

// A master's keys expire by its wall clock, and a wall clock can be set. How it
// runs beside ours is seen in every batch.

var started = time.Now()

func sinceStart() time.Duration { return time.Since(started) }

// Sample is one look at a master's clock: it showed the Unix time At somewhen
// between Sent and Read by our own clock.
type Sample struct{ At, Sent, Read time.Duration }

// Moved is by how much the master's clock has certainly moved against ours from s
// to a later sighting, beyond what drift allows: forward is positive. 0 is a clock
// that runs true as far as can be told. The round trips are allowed for, as neither
// look is more exact than its own.
func (s Sample) Moved(later Sample) time.Duration {
	// Looks of lanes side by side may come in another order than they were made.
	slack := Drift(max(later.Read, s.Read) - min(later.Sent, s.Sent))
	// The difference of the clocks was between these two, and then later ones.
	least, most := s.At-s.Read, s.At-s.Sent
	if by := later.At - later.Read - most; by > slack {
		return by
	}
	if by := later.At - later.Sent - least; by < -slack {
		return by
	}
	return 0
}

// Anchor is what each look at a master's clock is compared with: all looks before it.
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
type Anchor struct {
	above, below Sample
	jumped       time.Duration // by how much the clock has since; 0 if it runs true
}

// Look compares one more look with all that were before it, and takes it in. It returns
// by how much the clock has jumped since they began, 0 if it runs true. A jump is
// remembered until Watch.Settle: neither a connection that is lost before the marker tells of
// it, nor a clock that is set back, hides it.
func (a *Anchor) Look(now Sample) time.Duration {
	if !a.Known() {
		a.above, a.below = now, now
	}
	if by := cmp.Or(a.above.Moved(now), a.below.Moved(now)); by != 0 {
		a.jumped = by
	}
	if a.jumped != 0 {
		return a.jumped
	}
	if now.At-now.Sent < a.above.At-a.above.Sent+(now.Sent-a.above.Sent)/100 {
		a.above = now
	}
	if now.At-now.Read > a.below.At-a.below.Read-(now.Sent-a.below.Sent)/100 {
		a.below = now
	}
	return 0
}

// Known tells that there was a look.
func (a *Anchor) Known() bool { return a.above != Sample{} }

// begin begins anew with a clock that jumped.
func (a *Anchor) begin(now Sample) { *a = Anchor{above: now, below: now} }

// Vague tells that a look shows too little for anything to rest on it: it took longer
// than any decision does.
func (s Sample) Vague(timeout time.Duration) bool { return s.Read-s.Sent > timeout }

// Jump is a jump of a clock as far as looks show it. The zero jump is none.
type Jump struct {
	Least, Most time.Duration // it has jumped by between these, but for drift
	From, To    time.Duration // when the looks were by our clock, the first and the last
	Vague       bool          // the last was much less exact than those before it
}

// jump is by how much the clock has jumped, as a look shows.
func (a *Anchor) jump(now Sample) Jump {
	most, least := a.above.At-a.above.Sent, a.below.At-a.below.Read
	return Jump{
		Least: now.At - now.Read - most,
		Most:  now.At - now.Sent - least,
		From:  min(a.above.Sent, a.below.Sent),
		To:    now.Read,
		Vague: now.Read-now.Sent > max(most-least, 0)+Sharp,
	}
}

// alike tells whether two clocks may have jumped by the same: by no less exactly than
// they are known, and run beside each other.
func (j Jump) alike(k Jump) bool {
	long := max(j.To, k.To) - min(j.From, k.From) + min(j.Least.Abs(), k.Least.Abs())
	return max(j.Least-k.Most, k.Least-j.Most) <= Drift(long)
}

// Together tells whether so many of the masters' clocks seem to have jumped as one of
// them has that it may have been ours.
func Together(jumps []Jump, as Jump, quorum int) bool {
	alike := 0
	for _, other := range jumps {
		if other != (Jump{}) && other.alike(as) {
			alike++
		}
	}
	return alike >= quorum
}
