package engine

import (
	"cmp"
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// isOurStep tells of a step that it is none of a client's scripts.
func (o *op) isOurStep() bool { return o.IsStep() && o.Script.Printed == nil }

// stepDecided acts on the decision on a step. One that is lost is taken back before
// its asker hears "no", or before it is tried again: a "no" to what is signed by no
// token must be true.
func (r ruling) stepDecided() (answered bool) {
	d := r.votes.Decision()
	if d == quorum.Split {
		r.db.splits.Add(1)
	}
	if m, mends := r.asker.(*mending); mends {
		m.found(r)
	}
	if d == quorum.Won {
		for i := range r.db.lanes {
			r.commit(i, false)
		}
		return r.stepEnds(0)
	}
	if m := r.Leveller(r.votes); d == quorum.Split && m >= 0 {
		return r.level(m)
	}
	w := &confirmation{op: r.op, until: r.now.Add(r.db.AcquireTimeout), then: r.stepEnds}
	var list []laneEnding
	for i := range r.db.lanes {
		if r.Latched(r.votes, i) {
			list = append(list, r.takingBack(i, w, false)...)
		}
	}
	if w.over = w.out == 0 || d == quorum.Unavailable; w.over { // that error says that it may have happened
		r.endAll(list)
		return r.stepEnds(0)
	}
	r.db.confirmations.add(w)
	return r.endAll(list)
}

// endAll puts endings into their lanes. One that cannot be has not happened.
func (r ruling) endAll(list []laneEnding) (answered bool) {
	for _, n := range list {
		if !r.db.lanes[n.lane].queue.endStep(n.ending) && n.confirmation != nil {
			answered = n.confirmation.heard(n.lane, false) || answered
		}
	}
	return answered
}

// laneEnding is an ending with the number of its lane.
type laneEnding struct {
	*ending
	lane int
}

// takingBack are the endings of a lost step on master i, which is latched. w hears of what is taken back.
func (r ruling) takingBack(i int, w *confirmation, late bool) []laneEnding {
	list := r.endings(i, late)
	for _, n := range list {
		if n.ends == takeBack {
			w.wants(n)
		}
	}
	if w.open[i] == 0 {
		r.confirmed.Or(1 << i)
	}
	return list
}

// endings are what takes a step back on master i, which is latched. What it has only read, it lets
// go of. It is late where the master's vote came after the decision.
func (r ruling) endings(i int, late bool) (list []laneEnding) {
	var all []*ending
	for _, key := range r.touched(i) {
		n := &ending{op: r.op, key: key, ends: letGo}
		record := r.Said[i].Journal.Record(key)
		own, held := record, (*decide.UndoRecord)(nil)
		if record != nil && !late {
			if held = r.heldElsewhere(i, record); held == nil {
				own = r.aligned(record)
			}
		}
		switch {
		case record != nil && record.Changed():
			n.ends, n.back = takeBack, r.puttingBack(i, record, cmp.Or(held, own), r.now)
		case held != nil:
			n.ends, n.back = bringUp, r.puttingBack(i, record, held, r.now)
		case own != record:
			n.won = []wonKey{{key, own.Trail}}
		}
		all = append(all, n)
	}
	for _, n := range inTurn(all) {
		list = append(list, laneEnding{n, i})
	}
	return list
}

// touched are the keys that an op was given, each once, and what else it has written to on some masters.
func (r ruling) touched(masters ...int) []string {
	keys := slices.Clone(r.keys())
	for _, i := range masters {
		if r.votes.Vote(i) == 0 { // it may be about to tell
			continue
		}
		for _, record := range r.Said[i].Journal.Records() {
			keys = append(keys, record.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// allTouched are those of all masters that have told.
func (r ruling) allTouched() []string {
	masters := make([]int, len(r.Said))
	for i := range masters {
		masters[i] = i
	}
	return r.touched(masters...)
}

// stepEnds answers the asker of a step, or has it tried again. open are masters on which it is not known that a lost one
// was taken back, a bit for each.
func (r ruling) stepEnds(open uint16) (answered bool) {
	if r.stepsAgain(open) {
		r.tryLater()
		return false
	}
	if open != 0 || r.leavesUnlike() {
		r.mendLater()
	}
	result := r.explain()
	if result.Decision != quorum.Won {
		result.Tried = r.op
	}
	if open == 0 {
		r.announce()
	} else {
		result.Decision, result.Script = quorum.Split, nil
	}
	r.db.inFlight.Add(-1)
	r.db.finish(r.op, result)
	return true
}

// leavesUnlike tells of a lost step that it has met masters that are not alike, and nobody's latches. If all have declined
// it is not for that: they may be about to be what it has found of them.
func (r ruling) leavesUnlike() bool {
	d := r.votes.Decision()
	return (d == quorum.Split || d == quorum.Contended && r.someDid()) && !r.MetLatch(r.votes) && r.unlike(0)
}

// stepsAgain tells whether a lost step is tried once more: as a split acquire is, also if none has acted, since masters
// that differ may decline in different ways; and where others were in its way, as long as a decision may take.
func (r ruling) stepsAgain(open uint16) bool {
	r.now = time.Now() // it may have waited since
	switch {
	case r.votes.Decision() != quorum.Split || r.db.ends(r.op), r.Script.Exact && !r.leavesQuorum(), !r.Script.Exact && open != 0:
		return false
	case r.MetLatch(r.votes) && r.hasTime(r.now):
		return true
	}
	return r.mayTryAgain()
}

// stepLate acts on a vote on a step that came after its decision.
func (r ruling) stepLate(i int) {
	if r.votes.Decision() == quorum.Won {
		r.commit(i, true)
		return
	}
	if r.Latched(r.votes, i) {
		w := &confirmation{op: r.op, then: func(open uint16) bool { // nobody waits, but if it is tried again later
			if open != 0 { // it may be there yet
				r.mendLater()
			}
			return false
		}}
		r.endAll(r.takingBack(i, w, true))
	} else if r.hasMissedAll(i) && !r.sent[i].unsent {
		r.mendMissed(i) // it may have done it
	}
}

// commit ends a step that was won on master i: it lets go of the keys. Where the
// master did not do what the quorum did, and steps alone have changed a key there for a while, it is
// brought up to it. It is at once where it has acted on the same as they, and has made something
// else of it by its own clock; and where it has acted on what steps alone write: whatever
// it has that the quorum has not is of a step that was lost. One that was won had ended there,
// or this one would have met its latch; so it was decided, and those who had decided it carried
// it out before they were latched by this one. What is late is taken back, if it finds what they
// had not: they have been let go of, and others may have gone on. But where it had nothing a DEL may
// have come first, which is no step. Where it is left as it is, it is looked at later (mending.go).
func (r ruling) commit(i int, late bool) {
	latched, declined := r.Latched(r.votes, i), r.votes.Vote(i) == quorum.Refused && !r.Said[i].Journal.Busy
	if !latched && !declined {
		switch r.votes.Vote(i) {
		case quorum.Refused: // it was busy
			r.mendLater()
		case quorum.Unknown, quorum.Withheld:
			switch {
			case r.hasMissedAll(i):
				r.mendMissed(i)
			case !r.forbidden(i):
				r.mendLater()
			}
		}
		return
	}
	var all []*ending
	for _, key := range r.touched(i) {
		n := &ending{op: r.op, key: key, ends: letGo}
		ours, theirs := r.Said[i].Journal.Record(key), r.Made(r.votes, key)
		switch {
		case ours == nil && declined: // of many keys it tells nothing
			r.mendLater()
		case ours == nil:
		case r.votes.Did(i) && !ours.LivesOn() && r.strange(ours): // whose life it is may have been extended since
			n.ends, n.back = takeBack, r.puttingBack(i, ours, ours, r.now)
			r.mendLater()
		case r.votes.Vote(i) == quorum.Withheld:
		case theirs == nil:
			r.mendUnlike(ours)
		case dump.Same(ours.After, theirs.After):
			r.db.laggards.caughtUp(key, i)
			switch {
			case !r.votes.Did(i):
				if !late && ours.Trail != r.ByMostSteps(r.votes, theirs).Trail {
					r.mendLater()
				}
			case !late:
				n.won = []wonKey{{key, r.ByMostSteps(r.votes, theirs).TrailWon()}}
			case r.SameMark(r.votes, i, key): // else it may have been brought up to that before, and beyond
				n.won = []wonKey{{key, ours.TrailWon()}}
			default: // others may have gone on
				r.mendLater()
			}
		case latched && r.hasMissed(i, ours, theirs, late):
			if !late {
				theirs = r.ByMostSteps(r.votes, theirs)
			}
			n.ends, n.back = bringUp, r.bringing(i, ours, theirs)
			r.mendLater() // if that is lost, or was late
		default:
			r.mendLater()
		}
		if latched {
			all = append(all, n)
		}
	}
	for _, n := range inTurn(all) {
		r.db.lanes[i].queue.endStep(n)
	}
}

// hasMissed tells that master i is to be brought up to what the quorum has made of a key.
func (r ruling) hasMissed(i int, ours, theirs *decide.UndoRecord, late bool) bool {
	acted := r.votes.Did(i)
	return acted && dump.Same(ours.Before, theirs.Before) ||
		!late && (r.db.calm(ours) || acted && !ours.Emptied && ofSteps(ours.After, theirs.After))
}

// calm tells that steps alone have changed a key on a master for longer than others' commands on it may be under way.
func (db *database) calm(r *decide.UndoRecord) bool { return r.Calm >= 2*db.AcquireTimeout }

// ofSteps tells that a key has elements where it is behind, or ahead, and nothing else elsewhere: those are written by
// steps alone.
func ofSteps(ours, theirs string) bool {
	return dump.OfElements(ours) && (theirs == "" || dump.OfElements(theirs))
}

// someDid tells that a master has acted.
func (r ruling) someDid() bool {
	for i := range r.Said {
		if r.votes.Vote(i) != 0 && r.votes.Did(i) {
			return true
		}
	}
	return false
}
