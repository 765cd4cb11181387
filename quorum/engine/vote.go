package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

func (l *lane) vote(o *op, v quorum.Vote, did bool, now time.Time) {
	l.votes[v].Add(1)
	l.cast(o, v, did, now)
}

// cast is vote, of what the master was not asked.
func (l *lane) cast(o *op, v quorum.Vote, did bool, now time.Time) {
	if o.vote(l.index, v, did, now) {
		l.gather(o.flusher)
	}
}

// gather has somebody flushed when the batch is done. Answers to one client mostly
// come one after the other.
func (l *lane) gather(f quorum.Flusher) {
	if n := len(l.flush); n == 0 || l.flush[n-1] != f {
		l.flush = append(l.flush, f)
	}
}

func (l *lane) flushAll() {
	for _, f := range l.flush {
		f.Flush()
	}
	clear(l.flush)
	l.flush = l.flush[:0]
}

// abandon casts the votes of a batch that failed: any of it may have been
// carried out or not.
func (l *lane) abandon(errands []errand, ops []*op, now time.Time) {
	l.mu.Lock()
	l.open, l.queue.carried = false, 0
	for i := range l.queue.errands {
		l.queue.removed(&l.queue.errands[i])
	}
	errands = append(errands, l.queue.errands...)
	l.queue.errands, l.queue.outbox = nil, outbox{}
	for _, e := range errands {
		if e.pays() {
			l.queue.oweLocked(e.debt, now)
		}
	}
	l.queue.later = slices.DeleteFunc(l.queue.later, func(d laterDebt) bool {
		if d.again {
			return false // see undoLater
		}
		l.master.Rooms.Errands.Add(-d.size())
		if l.queue.mayTry(d.debt) {
			l.queue.oweLocked(d.debt, now)
		}
		return true
	})
	queue := l.queue.ops
	l.master.Rooms.Queue.Add(-l.queue.bytes)
	l.queue.ops, l.queue.bytes = nil, 0
	for _, o := range ops {
		l.queue.notSent(o)
	}
	for _, o := range queue {
		l.queue.notSent(o)
	}
	l.mu.Unlock()
	for _, e := range errands {
		if e.ending != nil {
			l.carriedOut(e, decide.Answer{})
		}
	}
	for _, o := range ops {
		l.vote(o, quorum.Unknown, false, now)
	}
	for _, o := range queue {
		l.unasked.Add(1)
		l.cast(o, quorum.Unknown, false, now)
	}
	l.flushAll()
	dropAll(ops)
	dropAll(queue)
}
