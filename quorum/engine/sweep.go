package engine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// sweep ends what has taken too long, probes idle masters, and tries split
// acquires again when their delay is over: one goroutine for all ops, so that
// none needs a timer of its own.
func (db *database) sweep(ctx context.Context) {
	tick := time.NewTicker(max(db.AcquireTimeout/20, time.Millisecond))
	defer tick.Stop()
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			for _, o := range db.retries.close() {
				db.tryAgain(o) // only to be answered: the lanes are closing
			}
			return
		case <-db.retries.kick:
		case <-next.C:
		case <-tick.C:
			db.expire(time.Now())
		}
		for _, o := range db.retries.take(time.Now()) {
			db.tryAgain(o)
		}
		if at, ok := db.retries.next(); ok {
			next.Reset(time.Until(at))
		}
	}
}

func (db *database) tryAgain(o *op) {
	db.try(o, time.Now())
	db.inFlight.Add(-1)
}

// free has the next of a line be tried, which a decision has set free: here and now, unless it
// is to rest until a time, or the decision has failed as too few masters could vote. Here that
// would go as deep as the line is long, and keep who has others to serve for as long as its
// clients ask again. So it is for the sweeper, who goes through what is due one after the other.
func (db *database) free(o *op, failed bool, rests time.Time) {
	switch now := time.Now(); {
	case rests.After(now):
		db.again(o, rests)
	case failed:
		db.again(o, now)
	default:
		db.tryAgain(o)
	}
}

// expire decides the ops whose time is up by the votes that are in.
func (db *database) expire(now time.Time) {
	db.watchOwnClock()
	db.watchQuorum()
	var late []*op
	for _, l := range db.lanes {
		late = l.queue.overdue(late, now)
		l.queue.probe(now, db.ProbeInterval)
	}
	db.expireTurns(now)
	for _, w := range db.confirmations.overdue(now) {
		if w.end() {
			w.op.flusher.Flush()
		}
	}
	for _, o := range late {
		if o.expire(now) {
			o.flusher.Flush()
		}
	}
	dropAll(late)
}

// retries are the split acquires that wait for their next attempt. Their number
// is bounded by that of the requests in flight.
type retries struct {
	kick chan struct{} // has room for one: the soonest may have changed

	mu     sync.Mutex // guards what follows
	list   []retry    // soonest first
	closed bool
}

type retry struct {
	op *op
	at time.Time
}

// again has o tried once more at a time. Once the sweeper has ended that is now:
// it can only be answered.
func (db *database) again(o *op, at time.Time) {
	if !db.retries.add(o, at) {
		db.tryAgain(o)
	}
}

func (r *retries) add(o *op, at time.Time) bool {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return false
	}
	i, _ := slices.BinarySearchFunc(r.list, at, func(x retry, at time.Time) int { return x.at.Compare(at) })
	r.list = slices.Insert(r.list, i, retry{o, at})
	r.mu.Unlock()
	select {
	case r.kick <- struct{}{}:
	default: // a kick is under way
	}
	return true
}

// close removes all, and lets no more in.
func (r *retries) close() (all []*op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.list {
		all = append(all, x.op)
	}
	r.list, r.closed = nil, true
	return all
}

// take removes those that are due.
func (r *retries) take(now time.Time) (due []*op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(due) < len(r.list) && !r.list[len(due)].at.After(now) {
		due = append(due, r.list[len(due)].op)
	}
	r.list = slices.Delete(r.list, 0, len(due))
	return due
}

func (r *retries) next() (at time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) == 0 {
		return at, false
	}
	return r.list[0].at, true
}
