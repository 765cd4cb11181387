package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// confirmation is what the masters have to confirm about a step before its asker is answered.
type confirmation struct {
	op      *op
	until   time.Time
	then    func(done bool) (answered bool) // called once
	missing atomic.Int32                    // confirmations
	spare   atomic.Int32                    // how many may be missing for ever
	over    atomic.Bool
}

// heard takes in that something was done on one master, or not. It tells whether the
// asker was answered.
func (w *confirmation) heard(done bool) (answered bool) {
	if done && w.missing.Add(-1) != 0 || !done && w.spare.Add(-1) >= 0 {
		return false
	}
	return w.end(done)
}

func (w *confirmation) end(done bool) (answered bool) {
	if w.over.Swap(true) {
		return false
	}
	w.op.db.confirmations.remove(w)
	return w.then(done)
}

// confirmations are the steps that wait so. Their number is bounded by that of the requests
// in flight.
type confirmations struct {
	mu  sync.Mutex // guards set
	set map[*confirmation]struct{}
}

func (s *confirmations) add(w *confirmation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil {
		s.set = make(map[*confirmation]struct{})
	}
	s.set[w] = struct{}{}
}

func (s *confirmations) remove(w *confirmation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.set, w)
}

// overdue are those that have waited long enough: what they wait for may have happened
// or not.
func (s *confirmations) overdue(now time.Time) (list []*confirmation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.set {
		if now.After(w.until) {
			list = append(list, w)
		}
	}
	return list
}
