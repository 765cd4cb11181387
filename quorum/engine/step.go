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
func (db *database) stepDecided(o *op, c decide.Votes, now time.Time) (answered bool) {
	d := c.Decision()
	if d == quorum.Split {
		db.splits.Add(1)
	}
	if d == quorum.Won {
		for i := range db.lanes {
			db.commit(o, c, i, now)
		}
		return db.stepEnds(o, c, true)
	}
	if m := o.Leveller(c); d == quorum.Split && m >= 0 {
		return db.level(o, c, m, now)
	}
	w := &awaited{op: o, until: now.Add(db.AcquireTimeout)}
	w.then = func(undone bool) bool { return db.stepEnds(o, c, undone) }
	var list []laneEnding
	for i := range db.lanes {
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
		db.endAll(list)
		return db.stepEnds(o, c, true)
	}
	db.awaiting.add(w)
	return db.endAll(list)
}

// endAll puts endings into their lanes. One that cannot be has not happened.
func (db *database) endAll(list []laneEnding) (answered bool) {
	for _, n := range list {
		if !db.lanes[n.lane].queue.endStep(n.ending) && n.awaited != nil {
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
func (db *database) stepEnds(o *op, c decide.Votes, undone bool) (answered bool) {
	if undone && db.stepsAgain(o, c) {
		db.tryLater(o)
		return false
	}
	r := db.explain(o, c)
	if undone {
		db.announce(o, c)
	} else {
		r.Decision, r.Script = quorum.Split, nil
	}
	db.inFlight.Add(-1)
	db.finish(o, r)
	return true
}

// stepsAgain tells whether a lost step is tried once more: as a split acquire is, and
// where others were in its way, as long as a decision may take.
func (db *database) stepsAgain(o *op, c decide.Votes) bool {
	switch {
	case c.Decision() != quorum.Split || db.closing.Load():
		return false
	case o.MetLatch(c) && o.hasTime(time.Now()):
		return true
	}
	return db.triesAgain(o, time.Now()) && c.Tally(len(db.lanes)).Granted > 0
}

// stepLate acts on a vote on a step that came after its decision.
func (db *database) stepLate(o *op, c decide.Votes, i int, now time.Time) {
	if c.Decision() == quorum.Won {
		db.commit(o, c, i, now)
		return
	}
	if c.Did(i) {
		for _, n := range o.takeBack(i, now, nil) {
			db.lanes[i].queue.endStep(n.ending)
		}
	}
}

// commit ends a step that was won on master i: it lets go of the keys. Where the
// master did not do what the quorum did, and has fallen behind for a while, it is
// brought up to it.
func (db *database) commit(o *op, c decide.Votes, i int, now time.Time) {
	declined := c.Vote(i) == quorum.Refused && !o.Said[i].Journal.Busy
	if !c.Did(i) && !declined {
		return
	}
	for _, key := range o.turn.keys {
		n := &ending{op: o, key: key, ends: letGo}
		ours, theirs := o.Said[i].Journal.Record(key), o.Made(c, key)
		switch {
		case ours == nil:
		case c.Did(i) && !ours.LivesOn() && db.intrudesOn(o, ours, i, now): // whose life it is may have been extended since
			n.ends, n.back = takeBack, o.puttingBack(i, ours, ours, now)
		case theirs == nil || c.Vote(i) == quorum.Withheld:
		case dump.Same(ours.After, theirs.After):
			db.behind.caughtUp(key, i)
		case db.behind.still(key, i, ours, now, 2*db.AcquireTimeout):
			n.ends, n.back = bringUp, o.bringing(c, i, ours, theirs, now)
		}
		if c.Did(i) || n.ends == bringUp {
			db.lanes[i].queue.endStep(n)
		}
	}
}
