package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// lockWon is what an op has won, if it is a lock: it counts for one holder of the op.
func lockWon(o *op) quorum.Lock {
	if o.Kind != quorum.Acquire && o.first == nil {
		return quorum.Lock{}
	}
	o.hold()
	return quorum.Lock{Key: o.Key, Held: o}
}

// Told lets go of what was won.
func (o *op) Told() { o.drop() }

// TakeBack releases a lock of which its client was never told: on every master, where it
// still is what was won, and not what was released and acquired since under the same
// token. The Lock is not the caller's any more.
func (e *Engine) TakeBack(l quorum.Lock) {
	o, won := l.Held.(*op)
	if !won {
		return
	}
	now := time.Now()
	o.untold.Store(true)
	c := o.ballot.Load()
	for i := range o.db.lanes {
		o.db.takeBack(o, c, i, now)
	}
	o.drop()
}

// takeBack takes a lock back from master i, if that has voted.
func (db *database) takeBack(o *op, c decide.Votes, i int, now time.Time) {
	if o.first != nil {
		db.unpersist(o, c, i, now)
	} else if c.Did(i) {
		db.lanes[i].queue.undoLock(o.undoing(i, now), o, o.sent[i].ordinal, now)
	}
}
