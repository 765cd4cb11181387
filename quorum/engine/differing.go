package engine

import (
	"cmp"
	"slices"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// Masters that have missed different steps may leave no quorum to make the same of several keys, though a quorum
// holds the same of each. What is lost for that is not won by being tried again, however often:
//
//	1: A's step, through one proxy, changes k, and is won on masters 1 and 2; it is late on 3
//	2: B's, through another, changes q, and is won on 2 and 3; it is late on 1
//	3: of k and q 1 has only A's by now, 3 has only B's, and 2 has both: no two make the same of both
//
// So one that is lost has every master hold of each key what those found who are latched by it, if they are a quorum, as far
// as steps alone write such, or have changed it for a while, see commit: a string may be a lock that is being won, and the
// latches do not keep that out. It has so at its decision alone: when a vote comes late the others have been let go of.
//
//	1: A's LPOP finds nothing on masters 1 and 2, and is late on 3
//	2: 2 goes away; B's RPUSH of y is won on 1 and 3, which let go of it
//	3: A's LPOP comes to 3, and takes y; what is put back there is y, and not the nothing that 1 and 2 found
//
// Masters that differ may also all decline, each in its own way, and who declines is not latched. So what is tried again
// latches its keys whatever it does, unless another proxy's step was in its way: many who poll what they cannot have
// would keep each other out.

// heldElsewhere is what master i is to hold of a key instead of what it had there, nil if that is to stay.
func (r ruling) heldElsewhere(i int, ours *decide.UndoRecord) *decide.UndoRecord {
	if ours == nil {
		return nil
	}
	var theirs *decide.UndoRecord
	left := r.life(i, ours, before)
	if held := r.FoundAlike(r.votes, ours.Key); held != nil {
		theirs = decide.Donor(held)
	} else if theirs = r.Reached(r.votes, ours.Key); theirs == nil {
		return r.heldInParts(ours)
	} else {
		left = r.lifeOf(theirs, i)
	}
	if dump.Same(ours.Before, theirs.Before) {
		return r.heldAsLong(i, ours)
	}
	if !r.db.calm(ours) && (ours.Emptied || !ofSteps(ours.Before, theirs.Before)) {
		return nil
	}
	back := &decide.UndoRecord{
		Key: ours.Key, Before: dump.Readable(theirs.Before), Left: left, After: ours.After, Expires: ours.Expires,
		Trail: theirs.Trail,
	}
	if !dump.ReadableBy(back.Before, ours.Before, ours.After) {
		return nil
	}
	return back
}

// aligned is what a master had of a key, but with the trail of who holds the same and has come to it by most steps: who
// has come there otherwise would else be taken for apart.
func (r ruling) aligned(ours *decide.UndoRecord) *decide.UndoRecord {
	theirs := decide.Donor(r.FoundAlike(r.votes, ours.Key))
	if theirs == nil {
		theirs = r.Reached(r.votes, ours.Key)
	}
	if theirs == nil || theirs.Trail == ours.Trail || !dump.Same(theirs.Before, ours.Before) {
		return ours
	}
	with := *ours
	with.Trail = theirs.Trail
	return &with
}

// heldAsLong is what master i is to hold, which has the same as others, but not for as long: nil but at a look, if it is not
// for certain.
func (r ruling) heldAsLong(i int, ours *decide.UndoRecord) *decide.UndoRecord {
	if r.Script != mendStep || !r.db.calm(ours) || !r.livesOtherwise(i, ours) {
		return nil
	}
	return &decide.UndoRecord{Key: ours.Key, Before: ours.Before, Left: r.life(i, ours, before), After: ours.After, Expires: ours.Expires, Trail: ours.Trail}
}

// heldInParts is what a master is to hold of a key of which no quorum holds the same: the elements that a quorum has. Each
// that was answered to be there is on one, and each that was answered to be gone is not. So it is where all masters are
// latched, and nothing else is under way on any.
//
//	1: A's push, through one proxy, is lost, and its undo with its proxy; it is on master 1 alone
//	2: B's, through another, is lost likewise, and is on 3 alone
//	3: no two masters have the same of the list, and nothing that is asked of it has a quorum
func (r ruling) heldInParts(ours *decide.UndoRecord) *decide.UndoRecord {
	if r.Script != mendStep {
		return nil
	}
	dumps, left := make([]string, len(r.Said)), []int64(nil)
	for i := range r.Said {
		if vote := r.votes.Vote(i); vote != quorum.Granted && vote != quorum.Refused || !r.Latched(r.votes, i) {
			return nil
		}
		record := r.Said[i].Journal.Record(ours.Key)
		if record == nil || !r.db.calm(record) {
			return nil
		}
		if dumps[i] = record.Before; record.Before != "" {
			left = append(left, record.Left)
		}
	}
	n := quorum.QuorumOf(len(dumps))
	merged, ok := dump.Merged(dumps, n)
	if !ok || merged == ours.Before || merged != "" && dump.SameContents(merged, ours.Before) {
		return nil
	}
	back := &decide.UndoRecord{Key: ours.Key, Before: merged, Left: decide.SaysNoTTL, After: ours.After, Expires: ours.Expires}
	if len(left) >= n { // as long as a quorum has it, or longer; -1 is for ever
		slices.SortFunc(left, func(a, b int64) int { return cmp.Compare(uint64(b), uint64(a)) })
		back.Left = left[n-1]
	}
	return back
}
