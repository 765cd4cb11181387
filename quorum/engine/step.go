package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/dump"
)

// isStep tells that the op latches its keys.
func (o *op) isStep() bool { return o.Kind == quorum.Run && o.Script.Latches }

// stepDecided acts on the decision on a step. One that is lost is taken back before
// its asker hears "no", or before it is tried again: a "no" to what is signed by no
// token must be true.
func (e *Engine) stepDecided(o *op, c counted, now time.Time) (answered bool) {
	d := c.decision()
	if d == quorum.Split {
		e.splits.Add(1)
	}
	if d == quorum.Won {
		for i := range e.lanes {
			e.commit(o, c, i, now)
		}
		return e.stepEnds(o, c, true)
	}
	if m := o.leveller(c); d == quorum.Split && m >= 0 {
		return e.level(o, c, m, now)
	}
	w := &awaited{op: o, until: now.Add(e.AcquireTimeout)}
	w.then = func(undone bool) bool { return e.stepEnds(o, c, undone) }
	var list []laneEnding
	for i := range e.lanes {
		if c.did(i) {
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
		if !e.lanes[n.lane].endStep(n.ending) && n.awaited != nil {
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
		if r := o.said[i].journal.record(key); r != nil && r.changed() {
			n.ends, n.back, n.awaited = takeBack, o.puttingBack(i, r, r, now), w
		}
		list = append(list, laneEnding{n, i})
	}
	return list
}

// changed tells that a step has made something else of the key, or may have: a master before
// 7.2 tells what is left of a ttl a little lower a moment later.
func (r *undoRecord) changed() bool { return r.before != r.after || r.left != r.expires }

// record is what a journaled script made of a key, nil if it is not known.
func (j *journaled) record(key string) *undoRecord { return recordOf(j.undo, key) }

func recordOf(records []undoRecord, key string) *undoRecord {
	for i := range records {
		if records[i].key == key {
			return &records[i]
		}
	}
	return nil
}

// stepEnds answers the asker of a step, or has it tried again. undone tells that
// nothing of a lost one is left.
func (e *Engine) stepEnds(o *op, c counted, undone bool) (answered bool) {
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
func (e *Engine) stepsAgain(o *op, c counted) bool {
	switch {
	case c.decision() != quorum.Split || e.closing.Load():
		return false
	case o.metLatch(c) && o.hasTime(time.Now()):
		return true
	}
	return e.triesAgain(o, time.Now()) && c.tally(len(e.lanes)).granted > 0
}

// metLatch tells that a master was busy with another proxy's step.
func (o *op) metLatch(c counted) bool {
	for i := range o.said {
		if c.vote(i) == quorum.Refused && o.said[i].journal.busy {
			return true
		}
	}
	return false
}

// stepLate acts on a vote on a step that came after its decision.
func (e *Engine) stepLate(o *op, c counted, i int, now time.Time) {
	if c.decision() == quorum.Won {
		e.commit(o, c, i, now)
		return
	}
	if c.did(i) {
		for _, n := range o.takeBack(i, now, nil) {
			e.lanes[i].endStep(n.ending)
		}
	}
}

// commit ends a step that was won on master i: it lets go of the keys. Where the
// master did not do what the quorum did, and has fallen behind for a while, it is
// brought up to it.
func (e *Engine) commit(o *op, c counted, i int, now time.Time) {
	declined := c.vote(i) == quorum.Refused && !o.said[i].journal.busy
	if !c.did(i) && !declined {
		return
	}
	for _, key := range o.turn.keys {
		n := &ending{op: o, key: key, ends: letGo}
		ours, theirs := o.said[i].journal.record(key), o.made(c, key)
		switch {
		case ours == nil:
		case c.did(i) && !ours.livesOn() && e.intrudesOn(o, ours, i, now): // whose life it is may have been extended since
			n.ends, n.back = takeBack, o.puttingBack(i, ours, ours, now)
		case theirs == nil || c.vote(i) == quorum.Withheld:
		case dump.Same(ours.after, theirs.after):
			e.behind.caughtUp(key, i)
		case e.behind.still(key, i, ours, now, 2*e.AcquireTimeout):
			n.ends, n.back = bringUp, o.bringing(c, i, ours, theirs, now)
		}
		if c.did(i) || n.ends == bringUp {
			e.lanes[i].endStep(n)
		}
	}
}

// made is what a quorum has made of a key in a step: that the replies
// are alike is not enough, where the key holds more than they tell. It is nil where
// no quorum has made the same.
func (o *op) made(c counted, key string) *undoRecord {
	for i := range o.said {
		if c.vote(i) != quorum.Granted {
			continue
		}
		alike := 0
		r := o.said[i].journal.record(key)
		for j := range o.said {
			if c.vote(j) != quorum.Granted {
				continue
			}
			if s := o.said[j].journal.record(key); r != nil && s != nil && dump.Same(r.after, s.after) {
				alike++
			}
		}
		if alike >= quorum.QuorumOf(len(o.said)) {
			return r
		}
	}
	return nil
}
