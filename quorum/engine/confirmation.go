package engine

import (
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// confirmation is what the masters have to confirm about a step before its asker is answered.
type confirmation struct {
	op    *op
	until time.Time
	then  func(open uint16) (answered bool) // called once, with the masters that have not confirmed all, a bit for each

	mu     sync.Mutex // guards what follows
	open   [quorum.MaxMasters]int
	out    int // what is not heard of yet
	needed int // so many more are enough
	over   bool
}

// wants has an ending on a master be waited for.
func (w *confirmation) wants(n laneEnding) {
	n.confirmation = w
	w.open[n.lane]++
	w.out++
	w.needed++
}

// heard takes in that something was done on a master, or not. It tells whether the asker was answered.
func (w *confirmation) heard(master int, done bool) (answered bool) {
	w.mu.Lock()
	w.out--
	if done {
		w.needed--
		if w.open[master]--; w.open[master] == 0 {
			w.op.confirmed.Or(1 << master)
		}
	}
	ends := w.out == 0 || w.needed == 0
	w.mu.Unlock()
	return ends && w.end()
}

func (w *confirmation) end() (answered bool) {
	w.mu.Lock()
	was := w.over
	w.over = true
	open := uint16(0)
	for i, n := range w.open {
		if n > 0 {
			open |= 1 << i
		}
	}
	w.mu.Unlock()
	if was {
		return false
	}
	w.op.db.confirmations.remove(w)
	return w.then(open)
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
