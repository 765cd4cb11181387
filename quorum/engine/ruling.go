package engine

import (
	"math/rand/v2"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// ruling is what was decided on an op, by which votes, and when. What follows from it on the
// masters is told in a file for each kind of request: hence so many methods.
type ruling struct {
	*op
	votes decide.Votes
	now   time.Time
}

// decided acts on a decision that just fell, and answers the asker unless there is more to
// do. It runs on the goroutine that cast the vote.
func (r ruling) decided() (answered bool) {
	d := r.votes.Decision()
	if r.traced != nil {
		r.traced.Decided(d, r.votes.ByMaster(), r.now)
	}
	if r.first == nil {
		r.db.decisions[r.Kind][d].Add(1)
	}
	waits := false
	switch r.Kind {
	case quorum.Acquire:
		waits = r.acquired()
	case quorum.Extend:
		r.extended()
	case quorum.Release, quorum.Remove:
		r.released()
	case quorum.Read:
		waits = d == quorum.Split && r.triesAgain()
	case quorum.Write:
		r.written()
	case quorum.Run:
		if d == quorum.Won && r.db.heldLocks.On() {
			r.replaces()
		}
		if r.IsStep() {
			return r.stepDecided()
		}
		waits = r.hasRun()
	}
	if waits {
		return false
	}
	r.db.inFlight.Add(-1)
	result := r.explain()
	if d == quorum.Won {
		result.Lock = lockWon(r.op)
	}
	r.db.finish(r.op, result)
	return true
}

// late acts on a vote that came after the decision.
func (r ruling) late(i int) {
	d := r.votes.Decision()
	switch {
	case r.IsStep():
		r.stepLate(i)
	case r.Kind == quorum.Acquire && d != quorum.Won:
		r.undoOn(i)
	case r.untold.Load():
		r.takeBack(i)
	case r.Kind == quorum.Run && (d != quorum.Won || r.votes.Did(i) && r.intrudes(i)):
		r.putBack(i)
	case r.Kind == quorum.Write:
		r.putBackWrite(i)
	case r.kind().frees:
		r.releasedLate(i)
	case r.Kind == quorum.Extend:
		r.extendedOn(i)
	}
}

// triesAgain has a split op tried once more after a random delay, if it may be, and if its time
// is not up by then. Until then it stays in flight.
func (r ruling) triesAgain() bool {
	if !r.mayTryAgain() {
		return false
	}
	r.tryLater()
	return true
}

// mayTryAgain tells whether a split op may be tried once more, and will be before its time is
// up. Where the last try was spoiled, it gets one more.
func (r ruling) mayTryAgain() bool {
	tries := r.db.SplitRetries
	if r.flight != nil && r.flight.void.Load() {
		tries++
	}
	return r.attempt < tries && !r.db.ends(r.op) && r.hasTime(r.now)
}

// hasTime tells that the op can be tried once more before its time is up.
func (o *op) hasTime(now time.Time) bool {
	if o.GivesBack { // each try has as much, so that who is late can tell
		return now.Add(o.db.SplitDelay).Before(o.began.Add(o.db.AcquireTimeout))
	}
	return now.Add(o.db.SplitDelay).Before(o.put.Add(o.patience))
}

// tryLater has a split op tried once more after a random delay. Until then it
// stays in flight.
func (r ruling) tryLater() {
	least := r.db.SplitDelay / 5
	delay := least + rand.N(r.db.SplitDelay-least+1)
	next := newOp(&r.Request, r.asker)
	next.attempt, next.flight, next.turn, next.began = r.attempt+1, r.flight, r.turn, r.began
	if r.IsStep() {
		if r.Script.Exact {
			next.Again = r.op
		}
		next.ends, next.holds = r.endsFound(), !r.MetLatch(r.votes)
	}
	r.db.again(next, time.Now().Add(delay))
}
