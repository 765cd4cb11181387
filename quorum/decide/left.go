package decide

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// lefts are what masters that hold one value say is left of its ttl, in milliseconds,
// the longest first. No expiry, SaysNoTTL, outlasts every other one.
//
// What is told of them is the quorum-th longest: a quorum still holds the key for so
// long. That is also as new as the last answered write, which some masters may have
// missed:
//
//	1: a quorum Q of the N masters have extended k, or shortened it, and that was
//	   answered; at most N-Q are behind
//	2: of all N, at most N-Q < Q have longer than those of the quorum, so the Q-th longest
//	   is no longer than theirs; and Q of them have at least theirs, so it is no shorter
//	3: of any Q of the N, up to N-Q may be those that are behind, and the Q-th longest,
//	   which is now the shortest, is that of one of them
//
// So the first quorum that answers is enough only where the others cannot change what is
// told. Of those that do not answer in time nothing is known: then it is what those have
// that did, which is never longer than the last answered write made it, and shorter where
// a master that was there has gone, and one that missed the write is counted in its place.
//
// A value needs no such rule. One that a quorum was given and holds leaves fewer than a
// quorum for any other, and as many as are needed to say that there is none: see
// Tally.read.
type lefts struct {
	n    int
	left [quorum.MaxMasters]int64
}

func (l *lefts) add(left int64) {
	i := l.n
	for ; i > 0 && Outlives(left, l.left[i-1]); i-- {
		l.left[i] = l.left[i-1]
	}
	l.left[i] = left
	l.n++
}

// held is how long so many masters have.
func (l *lefts) held(quorum int) int64 { return l.left[min(quorum, l.n)-1] }

// open tells that answers which are still to come could change, by more than clocks may
// differ, how long a quorum has: if all of them had longer.
func (l *lefts) open(quorum, pending int) bool {
	if pending == 0 || l.n < quorum {
		return false
	}
	now, then := l.held(quorum), l.held(max(quorum-pending, 1))
	if now == SaysNoTTL || then == SaysNoTTL {
		return now != then
	}
	return clock.OfMilliseconds(then)-clock.OfMilliseconds(now) > clock.Drift(clock.OfMilliseconds(then))
}

// Outlives tells of two remaining ttls in milliseconds, or SaysNoTTL, whether the
// first ends later than the second.
func Outlives(a, b int64) bool {
	return b != SaysNoTTL && (a == SaysNoTTL || a > b)
}
