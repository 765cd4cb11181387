package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
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
func (db *database) level(o *op, c decide.Votes, m int, now time.Time) (answered bool) {
	model := o.Said[m].Journal
	w := &awaited{op: o, until: now.Add(db.AcquireTimeout)}
	w.then = func(done bool) bool {
		r := o.result(c)
		r.Decision, r.Script = quorum.Split, nil
		if done {
			r.Decision, r.Script = quorum.Won, &model.Reply
		}
		db.inFlight.Add(-1)
		db.finish(o, r)
		return true
	}
	var list []laneEnding
	brought := 0
	for i := range db.lanes {
		switch {
		case c.Vote(i) != quorum.Granted:
		case i == m, o.Further(i, m):
			list = append(list, laneEnding{&ending{op: o, key: o.Key, ends: letGo}, i})
		default:
			back := o.bringing(c, i, o.Said[i].Journal.Record(o.Key), model.Record(o.Key), now)
			list = append(list, laneEnding{&ending{op: o, key: o.Key, ends: bringUp, back: back, awaited: w}, i})
			brought++
		}
	}
	others := quorum.QuorumOf(len(db.lanes)) - 1
	w.missing.Store(int32(others))
	w.spare.Store(int32(brought - others))
	db.awaiting.add(w)
	return db.endAll(list)
}
