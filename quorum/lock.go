package quorum

import "time"

// Lock is a lock that was won, until it is known whether its client was told. The op
// that won it keeps what each master said, so that it can be taken back exactly.
type Lock struct {
	Key string
	o   *op
}

// lockWon is what an op has won, if it is a lock: it counts for one holder of the op.
func lockWon(o *op) Lock {
	if o.Kind != Acquire && o.first == nil {
		return Lock{}
	}
	o.hold()
	return Lock{o.Key, o}
}

// Told says that the client knows of its lock, or may. The Lock is not the caller's any
// more.
func (l Lock) Told() {
	if l.o != nil {
		l.o.drop()
	}
}

// TakeBack releases a lock of which its client was never told: on every master, where it
// still is what was won, and not what was released and acquired since under the same
// token. The Lock is not the caller's any more.
func (e *Engine) TakeBack(l Lock) {
	o := l.o
	if o == nil {
		return
	}
	now := time.Now()
	o.untold.Store(true)
	c := o.ballot.load()
	for i := range o.engine.lanes {
		o.engine.takeBack(o, c, i, now)
	}
	o.drop()
}

// takeBack takes a lock back from master i, if that has voted.
func (e *Engine) takeBack(o *op, c counted, i int, now time.Time) {
	if o.first != nil {
		e.unpersist(o, c, i, now)
	} else if c.did(i) {
		e.lanes[i].undoLock(o.undoing(i, now), o, o.said[i].ordinal, now)
	}
}
