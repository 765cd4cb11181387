package decide

import (
	"slices"
	"strings"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/dump"
)

// The trail of a key on a master is which steps have left it there as it is, one after the other, as long as nothing else has
// changed it: of each that did a mark, by the mark before, who it was and what it has left, and whether it is known there that it
// was won: then all that have made the same of it have one trail. It stands in quorum.StepsKey.
// Who a step is, no other is: so where two masters have the same mark on the trails of a key, they had come to the same by the same
// steps then. And who is where another one was before has missed what that one has made since.

const (
	nameBytes  = 8             // of a mark
	markBytes  = nameBytes + 1 // with isWon, or isOpen
	trailBytes = 8 * markBytes // at most: what is older is left out

	isWon, isOpen = '+', '-'
)

// TrailWon is the trail that a step has left, where it is known that it was won.
func (r *UndoRecord) TrailWon() string { return r.trailAfter(isWon) }

func (r *UndoRecord) trailAfter(ends byte) string {
	if r.Mark == "" {
		return r.Trail
	}
	return r.Trail[max(len(r.Trail)+markBytes-trailBytes, 0):] + r.Mark + string(ends)
}

// readTrail reads what a master tells of a key's trail, and of the mark that a step has made on it: neither where that is none.
func readTrail(told string) (trail, mark string) {
	trail, mark, _ = strings.Cut(told, "/")
	if len(trail)%markBytes != 0 || len(trail) > trailBytes || len(mark)%nameBytes != 0 || len(mark) > nameBytes {
		return "", ""
	}
	for i := range len(trail) {
		if c := trail[i]; i%markBytes < nameBytes && !isHex(c) || i%markBytes == nameBytes && c != isWon && c != isOpen {
			return "", ""
		}
	}
	for i := range len(mark) {
		if !isHex(mark[i]) {
			return "", ""
		}
	}
	return trail, mark
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// granted is what a master that has acted has made of a key, if it tells.
func (q *Question) granted(v Votes, i int, key string) *UndoRecord {
	if v.Vote(i) != quorum.Granted {
		return nil
	}
	return q.Said[i].Journal.Record(key)
}

// ByMostSteps is, of the records of the masters that have made the same of a key in a step, their Donor.
func (q *Question) ByMostSteps(v Votes, made *UndoRecord) *UndoRecord {
	alike, unlike := []*UndoRecord{made}, false
	for i := range q.Said {
		if r := q.granted(v, i, made.Key); r != nil && r != made {
			alike, unlike = append(alike, r), unlike || r.Trail != made.Trail
		}
	}
	if !unlike { // as nearly always: to compare what is long takes long
		return made
	}
	return Donor(slices.DeleteFunc(alike, func(r *UndoRecord) bool { return r != made && !dump.Same(r.After, made.After) }))
}

// Donor is, of the records of masters that hold the same of a key, that whose trail has passed where most of the others have
// come to; of several one that is known to be won, and the longest. nil stands for who does not hold it.
func Donor(alike []*UndoRecord) (donor *UndoRecord) {
	var best [3]int
	for _, r := range alike {
		if r == nil {
			continue
		}
		passed, won := 0, 0
		for _, s := range alike {
			if s != nil && (s.last() == "" || r.passes(s.last()) != "") {
				passed++
			}
		}
		if strings.HasSuffix(r.Trail, string(isWon)) {
			won = 1
		}
		if rank := [3]int{passed, won, len(r.Trail)}; donor == nil || slices.Compare(rank[:], best[:]) > 0 {
			donor, best = r, rank
		}
	}
	return donor
}

// SameMark tells that another master has made the same of a key in a step as master i, and by the same steps.
func (q *Question) SameMark(v Votes, i int, key string) bool {
	ours := q.Said[i].Journal.Record(key)
	for j := range q.Said {
		if j == i {
			continue
		}
		if r := q.granted(v, j, key); r != nil && r.Mark == ours.Mark {
			return true
		}
	}
	return false
}

// last is the mark of the last step, without whether it is won: "" where no step is known.
func (r *UndoRecord) last() string {
	if len(r.Trail) < markBytes {
		return ""
	}
	return r.Trail[len(r.Trail)-markBytes : len(r.Trail)-1]
}

// passes is the trail from a mark on: "" where that is none of it.
func (r *UndoRecord) passes(mark string) string {
	for trail := r.Trail; len(trail) >= markBytes; trail = trail[markBytes:] {
		if trail[:nameBytes] == mark {
			return trail
		}
	}
	return ""
}

// passed tells that a key was on the one master what it is on the other, or is so.
func (r *UndoRecord) passed(s *UndoRecord) bool {
	rest := r.passes(s.last())
	return len(rest) > markBytes || rest != "" && dump.Same(r.Before, s.Before)
}

// behind tells that what was won later than all that a master has done of a key stands on the trail of another.
func (r *UndoRecord) behind(s *UndoRecord) bool {
	rest := s.passes(r.last())
	for ; len(rest) > markBytes; rest = rest[markBytes:] {
		if rest[markBytes+nameBytes] == isWon {
			return true
		}
	}
	return false
}

// apart tells that one of two masters has missed what was won, as far as is known. If they hold the same it is by chance, as
// where all elements of a list are of one value:
//
//	1: A's push is won on masters 2 and 3, and late on 1; B pops it, and pushes another one, which 1 has done, too
//	2: B's next pop is won on 1 and 2, and late on 3
//	3: A's push comes to 1, which holds one element now, as 3 does: nobody is to pop that
func (r *UndoRecord) apart(s *UndoRecord) bool {
	return r.Trail != s.Trail && (r.behind(s) || s.behind(r))
}

// Reached is what a quorum has made of a key by steps, as a step has found it that has latched it, where it is not known from a
// quorum that holds the same (FoundAlike), as one of that is away, or has forgotten it:
//
//	1: A's pop, through one proxy, is won on masters 1 and 3; 2 was latched by B's then, through another
//	2: 3 dies: of 1 and 2, one has an element that the other has not
//
// It is nil where one that has told is not where another was. Else the masters stand in a line, and what was won was left on
// a quorum of all; so of those who have told at least so many have it as a quorum is more than those who have not. What as many
// have, and no more of what one has beyond, is that, if it is known that it was won:
//
//	1: A's pop finds nothing on masters 2 and 3, and is told so; it is late on 1
//	2: B's push is won on all; A's pop comes to 1 and takes what was pushed, and A's proxy is gone
//	3: 3 dies: of 1 and 2, the one that is ahead has what was told to nobody
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
	reached := told[needed-1]
	won := func(r *UndoRecord) bool {
		rest := r.passes(reached.last())
		return rest != "" && rest[nameBytes] == isWon
	}
	if !slices.ContainsFunc(told, won) {
		return nil
	}
	return reached
}
