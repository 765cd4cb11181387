package engine

import (
	"time"

	"redlock-proxy/quorum"
)

// lockWon is what an op has won, if it is a lock: it counts for one holder of the op.
func lockWon(o *op) quorum.Lock {
	if o.Kind != quorum.Acquire && o.first == nil {
		return quorum.Lock{}
	}
	o.retain()
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
	o.untold.Store(true)
	r := ruling{o, o.ballot.Load(), time.Now()}
	for i := range o.db.lanes {
		r.takeBack(i)
	}
	o.drop()
}

// takeBack takes a lock back from master i, if that has voted.
func (r ruling) takeBack(i int) {
	if r.first != nil {
		r.unpersist(i)
	} else {
		r.undoOn(i)
	}
}
