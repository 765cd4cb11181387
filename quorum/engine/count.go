package engine

import (
	"math/bits"

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

// level brings all who counted less up to master m.
func (r ruling) level(m int) (answered bool) {
	model := r.Said[m].Journal
	w := &confirmation{op: r.op, until: r.now.Add(r.db.AcquireTimeout)}
	brought, others := 0, quorum.QuorumOf(len(r.db.lanes))-1
	w.then = func(open uint16) bool {
		result := r.result(r.votes)
		result.Decision, result.Script = quorum.Split, nil
		if brought-bits.OnesCount16(open) >= others {
			result.Decision, result.Script = quorum.Won, &model.Reply
		}
		r.db.inFlight.Add(-1)
		r.db.finish(r.op, result)
		return true
	}
	var list []laneEnding
	for i := range r.db.lanes {
		switch {
		case r.votes.Vote(i) != quorum.Granted:
			if r.Latched(r.votes, i) { // and has declined
				list = append(list, laneEnding{&ending{op: r.op, key: r.Key, ends: letGo}, i})
			}
		case i == m, r.Further(i, m):
			list = append(list, laneEnding{&ending{op: r.op, key: r.Key, ends: letGo}, i})
		default:
			back := r.bringing(i, r.Said[i].Journal.Record(r.Key), model.Record(r.Key))
			list = append(list, laneEnding{&ending{op: r.op, key: r.Key, ends: bringUp, back: back}, i})
			w.wants(list[len(list)-1])
			brought++
		}
	}
	w.needed = others
	r.db.confirmations.add(w)
	return r.endAll(list)
}
