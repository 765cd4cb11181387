package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// stepDecided acts on the decision on a step. One that is lost is taken back before
// its asker hears "no", or before it is tried again: a "no" to what is signed by no
// token must be true.
func (e *Engine) stepDecided(o *op, c decide.Votes, now time.Time) (answered bool) {
	d := c.Decision()
	if d == quorum.Split {
		e.splits.Add(1)
	}
	if d == quorum.Won {
		for i := range e.lanes {
			e.commit(o, c, i, now)
		}
		return e.stepEnds(o, c, true)
	}
	if m := o.Leveller(c); d == quorum.Split && m >= 0 {
		return e.level(o, c, m, now)
	}
	w := &awaited{op: o, until: now.Add(e.AcquireTimeout)}
	w.then = func(undone bool) bool { return e.stepEnds(o, c, undone) }
	var list []laneEnding
	for i := range e.lanes {
		if c.Did(i) {
			list = append(list, o.takeBack(i, now, w)...)
		}
	}
	for _, n := range list {
		if n.awaited != nil {
			w.missing.Add(1)
		}
	}
	if w.missing.Load() == 0 || d == quorum.Unavailable {
		w.over.Store(true) // an error says that it may have happened
		e.endAll(list)
		return e.stepEnds(o, c, true)
	}
	e.awaiting.add(w)
	return e.endAll(list)
}

// endAll puts endings into their lanes. One that cannot be has not happened.
func (e *Engine) endAll(list []laneEnding) (answered bool) {
	for _, n := range list {
		if !e.lanes[n.lane].queue.endStep(n.ending) && n.awaited != nil {
			answered = n.awaited.heard(false) || answered
		}
	}
	return answered
}

// laneEnding is an ending with the number of its lane.
type laneEnding struct {
	*ending
	lane int
}

// takeBack is what takes a step back on master i, which acted. What it has only read, it lets
// go of.
func (o *op) takeBack(i int, now time.Time, w *awaited) (list []laneEnding) {
	for _, key := range o.turn.keys {
		n := &ending{op: o, key: key, ends: letGo}
		if r := o.Said[i].Journal.Record(key); r != nil && r.Changed() {
			n.ends, n.back, n.awaited = takeBack, o.puttingBack(i, r, r, now), w
		}
		list = append(list, laneEnding{n, i})
	}
	return list
}

// stepEnds answers the asker of a step, or has it tried again. undone tells that
// nothing of a lost one is left.
func (e *Engine) stepEnds(o *op, c decide.Votes, undone bool) (answered bool) {
	if undone && e.stepsAgain(o, c) {
		e.tryLater(o)
		return false
	}
	r := e.explain(o, c)
	if undone {
		e.announce(o, c)
	} else {
		r.Decision, r.Script = quorum.Split, nil
	}
	e.inFlight.Add(-1)
	e.finish(o, r)
	return true
}

// stepsAgain tells whether a lost step is tried once more: as a split acquire is, and
// where others were in its way, as long as a decision may take.
func (e *Engine) stepsAgain(o *op, c decide.Votes) bool {
	switch {
	case c.Decision() != quorum.Split || e.closing.Load():
		return false
	case o.MetLatch(c) && o.hasTime(time.Now()):
		return true
	}
	return e.triesAgain(o, time.Now()) && c.Tally(len(e.lanes)).Granted > 0
}

// stepLate acts on a vote on a step that came after its decision.
func (e *Engine) stepLate(o *op, c decide.Votes, i int, now time.Time) {
	if c.Decision() == quorum.Won {
		e.commit(o, c, i, now)
		return
	}
	if c.Did(i) {
		for _, n := range o.takeBack(i, now, nil) {
			e.lanes[i].queue.endStep(n.ending)
		}
	}
}

// commit ends a step that was won on master i: it lets go of the keys. Where the
// master did not do what the quorum did, and has fallen behind for a while, it is
// brought up to it.
func (e *Engine) commit(o *op, c decide.Votes, i int, now time.Time) {
	declined := c.Vote(i) == quorum.Refused && !o.Said[i].Journal.Busy
	if !c.Did(i) && !declined {
		return
	}
	for _, key := range o.turn.keys {
		n := &ending{op: o, key: key, ends: letGo}
		ours, theirs := o.Said[i].Journal.Record(key), o.Made(c, key)
		switch {
		case ours == nil:
		case c.Did(i) && !ours.LivesOn() && e.intrudesOn(o, ours, i, now): // whose life it is may have been extended since
			n.ends, n.back = takeBack, o.puttingBack(i, ours, ours, now)
		case theirs == nil || c.Vote(i) == quorum.Withheld:
		case dump.Same(ours.After, theirs.After):
			e.behind.caughtUp(key, i)
		case e.behind.still(key, i, ours, now, 2*e.AcquireTimeout):
			n.ends, n.back = bringUp, o.bringing(c, i, ours, theirs, now)
		}
		if c.Did(i) || n.ends == bringUp {
			e.lanes[i].queue.endStep(n)
		}
	}
}
