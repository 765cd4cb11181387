package engine

import (
	"slices"

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
	held := r.FoundAlike(r.votes, ours.Key)
	if held == nil {
		return r.heldInParts(ours)
	}
	at := slices.IndexFunc(held, func(record *decide.UndoRecord) bool { return record != nil })
	theirs := held[at].Before
	if held[i] != nil || dump.Same(ours.Before, theirs) {
		return r.heldAsLong(i, ours)
	}
	if !r.db.calm(ours) && (ours.Emptied || !ofSteps(ours.Before, theirs)) {
		return nil
	}
	back := &decide.UndoRecord{Key: ours.Key, Before: dump.Readable(theirs), Left: r.life(i, ours, before), After: ours.After, Expires: ours.Expires}
	if !dump.ReadableBy(back.Before, ours.Before, ours.After) {
		return nil
	}
	return back
}

// heldAsLong is what master i is to hold, which has the same as others, but not for as long: nil but at a look, if it is not
// for certain.
func (r ruling) heldAsLong(i int, ours *decide.UndoRecord) *decide.UndoRecord {
	if r.Script != mendStep || !r.db.calm(ours) || !r.livesOtherwise(i, ours) {
		return nil
	}
	return &decide.UndoRecord{Key: ours.Key, Before: ours.Before, Left: r.life(i, ours, before), After: ours.After, Expires: ours.Expires}
}
