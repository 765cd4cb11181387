package decide

import (
	"slices"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/dump"
)

// A step is a run of a script whose writes no token signs. It latches its keys on the
// masters until it is decided and what follows is done there.

// IsStep tells that the request is a step.
func (q *Question) IsStep() bool { return q.Kind == quorum.Run && q.Script.Latches }

// MetLatch tells that a master which has voted was busy with another proxy's step.
func (q *Question) MetLatch(v Votes) bool {
	c := q.counted(v)
	return c.count(quorum.Refused, func(s *Said) bool { return s.Journal.Busy }) > 0
}

// Made is what a quorum has made of a key in a step: that the replies
// are alike is not enough, where the key holds more than they tell. It is nil where
// no quorum has made the same.
func (q *Question) Made(v Votes, key string) *UndoRecord {
	c := q.counted(v)
	s, most := c.most(quorum.Granted,
		func(s *Said) bool { return s.Journal.Record(key) != nil },
		func(s, other *Said) bool {
			return dump.Same(s.Journal.Record(key).After, other.Journal.Record(key).After)
		})
	if most < c.Quorum() {
		return nil
	}
	return s.Journal.Record(key)
}

// Leveller is, of a step that counts, the master that counted least of those which a quorum has
// not counted beyond, counted from 0; else, also where a master is busy, it is negative.
func (q *Question) Leveller(c Votes) int {
	if q.Script.Further == nil || q.MetLatch(c) {
		return -1
	}
	var least []int // the masters, the one that counted least first
	for i := range q.Said {
		if c.Vote(i) != quorum.Granted {
			continue
		}
		if j := q.Said[i].Journal; j.Reply.Kind != quorum.IntegerReply || j.Record(q.Key) == nil {
			return -1
		}
		least = append(least, i)
	}
	if len(least) < quorum.QuorumOf(len(q.Said)) {
		return -1
	}
	slices.SortFunc(least, func(i, j int) int {
		switch {
		case q.Further(i, j):
			return 1
		case q.Further(j, i):
			return -1
		}
		return 0
	})
	return least[quorum.QuorumOf(len(q.Said))-1]
}

// Further tells that master i has counted further than j, both of which have acted.
func (q *Question) Further(i, j int) bool {
	return q.Script.Further(q.Said[i].Journal.Reply.Int, q.Said[j].Journal.Reply.Int)
}
