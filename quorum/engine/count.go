package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
)

// A count that the masters have come to differ in is put right by the next one who
// counts. Every number that was ever answered is on a quorum, or a further one is. So the
// masters that count least are brought up until a quorum counts alike, and that is
// answered: no number is answered twice, though one may be left out. Where all masters
// count, those beyond it are too few to have what was answered. They may hold what a
// quorum was since set to:
//
//	1: the masters count 1525; A sets k to 0, has the OK of 1 and 2, and 3 is late
//	2: master 3 counts for B from 1525, and 1 from 0; master 2 is busy with C's step
//	3: if 1 were brought up to 3 now, A's OK would be undone
//
// So nothing is brought up while a master may still tell its count, or is busy. Where one
// is away, an older count and a further one cannot be told apart.

// leveller is the master that counted least of those which a quorum has not counted
// beyond; else, also where a master is busy, it is negative.
func (o *op) leveller(c counted) int {
	if o.Script.Further == nil || o.metLatch(c) {
		return -1
	}
	var least []int // the masters, the one that counted least first
	for i := range o.said {
		if c.vote(i) != quorum.Granted {
			continue
		}
		if j := o.said[i].journal; j.reply.Kind != quorum.IntegerReply || j.record(o.Key) == nil {
			return -1
		}
		least = append(least, i)
	}
	if len(least) < quorum.QuorumOf(len(o.said)) {
		return -1
	}
	slices.SortFunc(least, func(i, j int) int {
		switch {
		case o.further(i, j):
			return 1
		case o.further(j, i):
			return -1
		}
		return 0
	})
	return least[quorum.QuorumOf(len(o.said))-1]
}

// further tells that master i has counted further than j.
func (o *op) further(i, j int) bool {
	return o.Script.Further(o.said[i].journal.reply.Int, o.said[j].journal.reply.Int)
}

// level brings all who counted less up to master m.
func (e *Engine) level(o *op, c counted, m int, now time.Time) (answered bool) {
	model := o.said[m].journal
	w := &awaited{op: o, until: now.Add(e.AcquireTimeout)}
	w.then = func(done bool) bool {
		r := o.result(c)
		r.Decision, r.Script = quorum.Split, nil
		if done {
			r.Decision, r.Script = quorum.Won, &model.reply
		}
		e.inFlight.Add(-1)
		e.finish(o, r)
		return true
	}
	var list []laneEnding
	brought := 0
	for i := range e.lanes {
		switch {
		case c.vote(i) != quorum.Granted:
		case i == m, o.further(i, m):
			list = append(list, laneEnding{&ending{op: o, key: o.Key, ends: letGo}, i})
		default:
			back := o.bringing(c, i, o.said[i].journal.record(o.Key), model.record(o.Key), now)
			list = append(list, laneEnding{&ending{op: o, key: o.Key, ends: bringUp, back: back, awaited: w}, i})
			brought++
		}
	}
	others := quorum.QuorumOf(len(e.lanes)) - 1
	w.missing.Store(int32(others))
	w.spare.Store(int32(brought - others))
	e.awaiting.add(w)
	return e.endAll(list)
}
