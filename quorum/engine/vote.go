package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

func (s *sender) vote(o *op, v quorum.Vote, did bool, now time.Time) {
	s.votes[v].Add(1)
	s.cast(o, v, did, now)
}

// cast is vote, of what the master was not asked.
func (s *sender) cast(o *op, v quorum.Vote, did bool, now time.Time) {
	if o.vote(s.index, v, did, now) {
		s.gather(o.flusher)
	}
}

// gather has somebody flushed when the batch is done. Answers to one client mostly
// come one after the other.
func (s *sender) gather(f quorum.Flusher) {
	if n := len(s.flush); n == 0 || s.flush[n-1] != f {
		s.flush = append(s.flush, f)
	}
}

func (s *sender) flushAll() {
	for _, f := range s.flush {
		f.Flush()
	}
	clear(s.flush)
	s.flush = s.flush[:0]
}

// abandon casts the votes of a batch that failed: any of it may have been
// carried out or not.
func (s *sender) abandon(errands []errand, ops []*op, now time.Time) {
	s.mu.Lock()
	s.open, s.queue.carried = false, 0
	for _, e := range s.queue.errands {
		s.queue.removed(e)
	}
	errands = append(errands, s.queue.errands...)
	s.queue.errands, s.queue.outbox, s.queue.letters = nil, outbox{}, outbox{}
	for _, e := range errands {
		if d := e.owes(); d != nil {
			s.queue.oweLocked(*d, now)
		}
	}
	s.queue.later = slices.DeleteFunc(s.queue.later, func(d laterDebt) bool {
		if d.again {
			return false // see undoLater
		}
		s.master.Rooms.Errands.Add(-d.size())
		if s.queue.mayTry(d.debt) {
			s.queue.oweLocked(d.debt, now)
		}
		return true
	})
	queue := s.queue.ops
	s.master.Rooms.Queue.Add(-s.queue.bytes)
	s.queue.ops, s.queue.bytes = nil, 0
	for _, o := range ops {
		s.queue.notSent(o)
	}
	for _, o := range queue {
		s.queue.notSent(o)
		o.sent[s.index].unsent = true
	}
	s.mu.Unlock()
	for _, e := range errands {
		switch n := e.(type) {
		case *ending, lettingGo:
			n.carriedOut(s, decide.Answer{})
		}
	}
	for _, o := range ops {
		s.vote(o, quorum.Unknown, false, now)
	}
	for _, o := range queue {
		s.unasked.Add(1)
		s.cast(o, quorum.Unknown, false, now)
	}
	s.flushAll()
	dropAll(ops)
	dropAll(queue)
}
