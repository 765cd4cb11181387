package engine

import (
	"slices"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// Of those who hold the same some may have been told of an extension, or of a shorter life, and others not. As long as it was
// answered that it lives a quorum has it, and what is right for all is how long a quorum has it, of which each quorum
// has one (see decide/left.go):
//
//	1: A holds k on masters 1, 2 and 3; A shortens its life, or extends it: 2 is away
//	2: 3 misses what A changes then, and is brought up to what 1 and 2 hold
//	3: if 3 had k for as long as 2 has, one master alone would have what A was answered
//
// Lives are told as of when master i had carried out what it was asked, as precisely as they are known: no earlier
// than others had been asked, and no later than they had answered. What is under way is not ordered with steps:
//
//	1: A extends k, which is on its way to 1 and 2, and has come to 3
//	2: B's step finds k on all, and 3 behind with something else
//	3: if 3 had k for as long as 1 and 2 have it yet, A's extension would be on 1 alone, or on 2
//
// So it is but lengthened where others than steps may have changed it lately.

// life is what master i is to have left of a key, in milliseconds or SaysNoTTL, of which it has something else; left tells
// it of each master's record.
func (r ruling) life(i int, ours *decide.UndoRecord, left func(*decide.UndoRecord) int64) int64 {
	own, from, to := r.lives(i, ours, left)
	switch {
	case own == decide.SaysAbsent:
		own = from
	case r.IsStep() && r.db.calm(ours) && decide.Outlives(own, to):
		own = to
	case (!r.IsStep() || r.db.calm(ours)) && decide.Outlives(from, own):
		own = from
	}
	if own == decide.SaysNoTTL {
		return own
	}
	return max(own, 1)
}

// lifeOf is what another master has left of a key, as of when master i was asked, or longer: no quorum has told of it.
func (r ruling) lifeOf(theirs *decide.UndoRecord, i int) int64 {
	if theirs.Left == decide.SaysNoTTL {
		return theirs.Left
	}
	j := 0
	for r.votes.Vote(j) == 0 || decide.RecordOf(r.Said[j].Journal.Records(), theirs.Key) != theirs { // who has not voted may be about to tell
		j++
	}
	return max(theirs.Left+(r.sent[j].asked.To-r.sent[i].asked.From).Milliseconds(), 1)
}

// lives is what master i has left of a key, and what a quorum has, of which it is known that it is no less and no more.
func (r ruling) lives(i int, ours *decide.UndoRecord, left func(*decide.UndoRecord) int64) (own, from, to int64) {
	least, most := make([]int64, len(r.Said)), make([]int64, len(r.Said))
	for j := range r.Said {
		record := ours
		if j != i {
			record = r.recordOf(j, ours.Key)
		}
		switch {
		case record == nil: // which is not known
			most[j] = decide.SaysNoTTL
			continue
		case left(record) == decide.SaysAbsent:
			continue
		}
		if least[j] = left(record); j != i && least[j] != decide.SaysNoTTL {
			least[j] = max(least[j]-(r.sent[i].asked.To-r.sent[j].asked.From).Milliseconds(), 0)
			most[j] = left(record) + (r.sent[j].asked.To - r.sent[i].asked.From).Milliseconds()
			continue
		}
		most[j] = least[j]
	}
	return left(ours), lifeOfQuorum(least), lifeOfQuorum(most)
}

// livesOtherwise tells that master i is known to have a key for longer or shorter than a quorum.
func (r ruling) livesOtherwise(i int, ours *decide.UndoRecord) bool {
	own, from, to := r.lives(i, ours, before)
	return ours.Before != "" && (decide.Outlives(own, lengthened(to)) || decide.Outlives(from, lengthened(own)))
}

// lengthened is more than what differs by as little as masters tell it, and clocks differ.
func lengthened(left int64) int64 {
	if left == decide.SaysNoTTL {
		return left
	}
	return left + 50
}

// recordOf is what master j has told of a key, nil if it has not.
func (r ruling) recordOf(j int, key string) *decide.UndoRecord {
	if vote := r.votes.Vote(j); vote != quorum.Granted && vote != quorum.Refused {
		return nil
	}
	return r.Said[j].Journal.Record(key)
}

// lifeOfQuorum is what a quorum of masters has left, or longer.
func lifeOfQuorum(left []int64) int64 {
	slices.SortFunc(left, func(a, b int64) int {
		switch {
		case decide.Outlives(a, b):
			return -1
		case decide.Outlives(b, a):
			return 1
		}
		return 0
	})
	return left[quorum.QuorumOf(len(left))-1]
}

// before and afterwards are what a master had left of a key, and has.
func before(record *decide.UndoRecord) int64     { return record.Left }
func afterwards(record *decide.UndoRecord) int64 { return record.Expires }
