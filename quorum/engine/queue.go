package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// queue is what waits for a lane's master, and what is on its way to it. Producers never wait
// for the master: what finds no room is a vote unknown at once. The lane's mu guards it.
// Half of its methods are about debts: what is owed is told from what was sent since, which
// only the queue knows.
type queue struct {
	*lane

	wake    chan struct{} // has room for one; sent to when idle is cleared, but by who borrows the lane
	idle    bool          // the goroutine waits on wake, and nobody has borrowed the lane
	lent                  // to who stays
	ops     []*op
	bytes   int      // what ops come to
	errands []errand // go before ops
	outbox  outbox   // goes between the two
	letters outbox   // and so do they
	flying  []*batch // in flight, or about to be
	carried int      // errands and ops that the goroutine has not done with
	sent    time.Time
	sentSo  sentSo

	debts       debts       // while the master is away
	later       []laterDebt // to be paid in a while
	swept       time.Time   // when debts that are over were last looked for
	toldOfCrowd time.Time   // when it was last logged that there is no room for an errand
}

// push appends an op to the queue. If that cannot be, it returns the lane's vote on
// it, which is the caller's to cast. Who stays, if s is not nil, may borrow the lane, and is to carry what waits.
func (q *queue) push(o *op, s *stay) (missed quorum.Vote, borrowed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if missed = q.misses(o); missed != 0 {
		q.notSent(o)
		o.sent[q.index].unsent = true
		if q.open || missed != quorum.Unknown {
			q.votes[missed].Add(1)
		} else {
			q.unasked.Add(1)
		}
		return missed, false
	}
	if q.ward != nil {
		q.ward.released.Note(&o.Request)
	}
	o.retain()
	q.ops = append(q.ops, o)
	q.bytes += o.weight
	q.master.Rooms.Queue.Add(o.weight)
	if borrowed = s != nil && q.borrow(); !borrowed {
		q.rouse()
	}
	return 0, borrowed
}

// notSent notes what is known of an op that is not sent, or may not have been. mu is held.
func (q *queue) notSent(o *op) {
	s := &o.sent[q.index]
	s.ordinal, s.nonce = q.sentSo.last, q.nonce
}

// misses is the lane's vote on an op that cannot be queued. mu is held.
func (q *queue) misses(o *op) quorum.Vote {
	switch {
	case q.drained && !o.needsNoVote():
		return quorum.Withheld // whether the master is there or not: it is not asked
	case !q.open, len(q.ops) >= maxReleases, len(q.ops) >= maxQueue && !o.kind().frees,
		o.weight >= master.Small && q.master.Rooms.Queue.Full():
		return quorum.Unknown
	case q.silent() && !o.needsNoVote():
		return quorum.Withheld
	}
	return 0
}

// rouse wakes the goroutine. mu is held.
func (q *queue) rouse() {
	if q.idle {
		q.idle = false
		q.wake <- struct{}{}
	}
}

// unqueued notes that an op does not wait any more. mu is held.
func (q *queue) unqueued(o *op) {
	q.bytes -= o.weight
	q.master.Rooms.Queue.Add(-o.weight)
}

// probe rouses an idle lane that has sent nothing for a while, and forgets
// debts that are over.
func (q *queue) probe(now time.Time, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.undoDue(now)
	if q.open && q.idle && now.Sub(q.sent) >= after {
		q.rouse()
	}
	if now.Sub(q.swept) >= after {
		q.swept = now
		q.dropped.Add(uint64(q.debts.expire(now)))
	}
}

// overdue appends the ops of this lane whose time is up and which are not decided, and
// holds them for the caller.
func (q *queue) overdue(ops []*op, now time.Time) []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range q.flying {
		ops = appendOverdue(ops, b.ops, now)
	}
	return appendOverdue(ops, q.ops, now)
}

func appendOverdue(to, ops []*op, now time.Time) []*op {
	for _, o := range ops {
		if (o.overdue(now) || o.stalls(now)) && o.ballot.Load().Decision() == quorum.Undecided {
			o.retain()
			to = append(to, o)
		}
	}
	return to
}

// busy tells that the lane has something to do that it can do, or that it may
// be able to once it is connected.
func (q *queue) busy(connecting bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open {
		return q.carried > 0 || connecting && q.debts.len() > 0
	}
	return q.waiting()+q.carried > 0
}

// waiting is how much there is for the next batch. mu is held.
func (q *queue) waiting() int {
	return len(q.ops) + len(q.errands) + len(q.outbox.list) + len(q.letters.list)
}
