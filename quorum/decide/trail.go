package decide

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/dump"
)

// The trail of a key on a master is which steps have left it there as it is, one after the other, as long as nothing else has
// changed it: of each that did something, if to another key, a hash of who it was and of what it has left. It stands in
// quorum.StepsKey. Who a step is, no other is: so where two masters have the same of one in the trails of a key, they held the
// same then. And who is where another one was before has missed what that one has made since.

const (
	markBytes  = 8             // of a trail, for one step
	trailBytes = 8 * markBytes // at most: what is older is left out
)

// TrailAfter is the trail that a step leaves which has acted, as a master has it: "" if it is none.
func (r *UndoRecord) TrailAfter(step string) string {
	if step == "" {
		return ""
	}
	sum := sha1.Sum([]byte(step + dump.Mark(r.After)))
	trail := r.Trail + hex.EncodeToString(sum[:markBytes/2])
	return trail[max(len(trail)-trailBytes, 0):]
}

// passed tells that a key was on the one master what it is on the other, or is so.
func (r *UndoRecord) passed(s *UndoRecord) bool {
	if len(s.Trail) < markBytes {
		return false
	}
	last := s.Trail[len(s.Trail)-markBytes:]
	for trail := r.Trail; len(trail) >= markBytes; trail = trail[markBytes:] {
		if trail[:markBytes] == last {
			return len(trail) > markBytes || dump.Same(r.Before, s.Before)
		}
	}
	return false
}

// Reached is what a quorum has made of a key by steps, and maybe more, as a step has found it that has latched it, where it
// is not known from a quorum that holds the same (FoundAlike), as one of that is away, or has forgotten it:
//
//	1: A's pop, through one proxy, is won on masters 1 and 3; 2 was latched by B's then, through another
//	2: 3 dies: of 1 and 2, one has an element that the other has not
//
// It is nil where one that has told is not where another was. Else the masters stand in a line, and what was won was left on
// a quorum of all; so of those who have told at least so many have it as a quorum is more than those who have not. What as many
// have, and no more of what one has beyond, is that. Who was told of what they have beyond has heard NOQUORUM, or nothing yet:
// what is taken back is so before a no is told, and its master stands where it stood before.
func (q *Question) Reached(v Votes, key string) *UndoRecord {
	var told []*UndoRecord
	for i := range q.Said {
		if vote := v.Vote(i); (vote == quorum.Granted || vote == quorum.Refused) && q.Latched(v, i) {
			if record := q.Said[i].Journal.Record(key); record != nil {
				told = append(told, record)
			}
		}
	}
	n := len(q.Said)
	needed := quorum.QuorumOf(n) - (n - len(told))
	if needed < 1 {
		return nil
	}
	for i, r := range told {
		for _, s := range told[:i] {
			if !r.passed(s) && !s.passed(r) {
				return nil
			}
		}
	}
	slices.SortStableFunc(told, func(r, s *UndoRecord) int {
		switch {
		case !s.passed(r):
			return -1
		case !r.passed(s):
			return 1
		}
		return 0
	})
	return told[needed-1]
}
