package decide

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
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

// Latched tells that a master which has voted is latched by the step until that is ended there.
func (q *Question) Latched(v Votes, i int) bool {
	return v.Vote(i) != 0 && q.Said[i].Journal != nil && q.Said[i].Journal.Latched
}

// Made is what a quorum has made of a key in a step: that the replies
// are alike is not enough, where the key holds more than they tell. It is nil where
// no quorum has made the same.
func (q *Question) Made(v Votes, key string) *UndoRecord {
	c := q.counted(v)
	s, most := c.most(quorum.Granted,
		func(s *Said) bool { return s.Journal.Record(key) != nil },
		func(s, other *Said) bool {
			r, o := s.Journal.Record(key), other.Journal.Record(key)
			return dump.Same(r.After, o.After) && !r.apart(o)
		})
	if most < c.Quorum() {
		return nil
	}
	return s.Journal.Record(key)
}

// FoundAlike are the records of the masters that found the same of a key as a step latched them, one place a master; nil
// where these are no quorum. As they are latched, nothing else has been won since: it is what the steps before have left,
// whichever of them was the last to change the key. Who is not may have found what is older.
func (q *Question) FoundAlike(v Votes, key string) []*UndoRecord {
	found := make([]*UndoRecord, len(q.Said))
	for i := range q.Said {
		if vote := v.Vote(i); (vote == quorum.Granted || vote == quorum.Refused) && q.Latched(v, i) {
			found[i] = q.Said[i].Journal.Record(key)
		}
	}
	for _, one := range found {
		alike, n := make([]*UndoRecord, len(found)), 0
		for i, other := range found {
			if one != nil && other != nil && dump.Same(one.Before, other.Before) && !one.apart(other) {
				alike[i] = other
				n++
			}
		}
		if n >= quorum.QuorumOf(len(found)) {
			return alike
		}
	}
	return nil
}

// Left is what a quorum has left of the ttl of a key, or more, as a step has found it and as a script reads
// it; 0 if the key had none there, or was not.
//
// Each master has its own milliseconds. If a step puts down what it makes of them, as where somebody waits until a
// lock ends, no two make the same. So what is tried again is given one for all.
func (q *Question) Left(v Votes, key string) time.Duration {
	var left []time.Duration // the longest first
	for i := range q.Said {
		if v.Vote(i) == 0 { // it may be about to tell
			continue
		}
		if record := RecordOf(q.Said[i].Journal.Records(), key); record != nil && near(record.Left) > 0 {
			left = append(left, clock.Unpad(clock.OfMilliseconds(record.Left)))
		}
	}
	n := quorum.QuorumOf(len(q.Said))
	if len(left) < n {
		return 0
	}
	slices.Sort(left)
	return left[len(left)-n]
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
