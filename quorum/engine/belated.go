package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// A master that was busy with another proxy's step while one was won has missed it, though nothing
// failed: it lets go of the other's latch a moment later. If two masters miss one each, no quorum holds
// the same:
//
//	1: A's step is won on masters 1, 2 and 3; 3 has yet to let go of its latch
//	2: B's, through another proxy, is won on 1 and 2, and meets that latch on 3
//	3: C's is won on 2 and 3, and meets B's on 1: 1 has not C's, 3 has not B's, and only 2 has all
//
// So a step that was won is put once more to the masters that were busy: to them it is as if it had
// been late, and it is bound as such (bound.go). Until they have acted the others stay latched, and no
// further step is decided, as no quorum is free; but not for longer than those rest whom the latches
// keep out. Its asker has been answered.

// belated is a step that was won, as it is put once more to a master that was busy.
type belated struct {
	*confirmation // what follows when those have voted that were busy
	lane          int
	rests         time.Duration // before it is put again, if the master still is
}

// won ends a step on the masters that have voted, when those that were busy have been asked once more.
func (r ruling) won() {
	w := &confirmation{op: r.op, until: r.now.Add(r.db.SplitDelay)}
	w.then = func(bool) bool {
		for i := range r.db.lanes {
			r.commit(i)
		}
		return false
	}
	var busy []int
	for i := range r.db.lanes {
		if r.votes.Vote(i) == quorum.Refused && r.Said[i].Journal.Busy {
			busy = append(busy, i)
		}
	}
	if len(busy) == 0 {
		w.then(true)
		return
	}
	commit := w.then
	r.keepsTurn = true // an own step that is put behind it would be ahead of it on who is busy
	w.then = func(bool) bool {
		commit(true)
		r.db.endTurn(r.turn, false)
		return false
	}
	w.missing.Store(int32(len(busy)))
	r.db.confirmations.add(w)
	for _, i := range busy {
		r.askAgain(&belated{w, i, r.db.SplitDelay / 50}, r.now)
	}
}

// askAgain puts the step once more to a master at a time, as one that the others have decided.
func (r ruling) askAgain(b *belated, at time.Time) {
	o := newOp(&r.Request, r.asker) // who was answered, and is not again
	o.retainForever()
	o.db, o.began, o.put, o.patience, o.sleeps = r.db, r.began, r.put, r.patience, r.sleeps
	o.place, o.weight, o.clock, o.left, o.holder = r.place, r.weight, r.clock, r.left, r.holder
	o.belated = b
	o.Said, o.sent = make([]decide.Said, len(r.Said)), slices.Clone(r.sent)
	for j := range r.Said {
		if v := r.votes.Vote(j); v != 0 && j != b.lane {
			o.Said[j] = r.Said[j]
			o.ballot.Cast(j, v, r.votes.Did(j), o.weigh)
		}
	}
	if at.After(r.now) {
		r.db.inFlight.Add(1)
		r.db.again(o, at)
		return
	}
	r.db.putBelated(o)
}

func (db *database) putBelated(o *op) {
	if missed := db.lanes[o.belated.lane].queue.push(o); missed != 0 {
		o.vote(o.belated.lane, missed, false, time.Now())
	}
}

// heardBelated takes in that a master has been asked once more.
func (r ruling) heardBelated() {
	b := r.belated
	still := r.votes.Vote(b.lane) == quorum.Refused && r.Said[b.lane].Journal.Busy && !r.Said[b.lane].Journal.Other
	if at := r.now.Add(b.rests); still && at.Before(b.until) {
		r.askAgain(&belated{b.confirmation, b.lane, 2 * b.rests}, at)
		return
	}
	b.heard(true)
}
