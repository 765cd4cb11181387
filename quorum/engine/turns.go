package engine

import (
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// Turns: at most one step on a key is under way at a proxy, between tries included.
// Those that come meanwhile wait here, in order, as long as a decision may take. One
// that is about several keys waits until it is the first on each of them.
//
// When the latches of this proxy have kept another one out, the key rests for a while
// before the next turn: that would otherwise find every master free in the very batch
// that lets go of them, and the other proxy none.

// turn is a step's place in the lines of its keys.
type turn struct {
	op     *op
	keys   []string
	ahead  int // lines in which another one is the first
	called bool
}

type turns struct {
	mu    sync.Mutex // guards lines, and the turns in them
	lines map[string]*line
}

// line is the turns on one key. The first may be under way.
type line struct {
	turns  []*turn
	wanted bool      // the latch of the first has kept another proxy out
	rests  time.Time // no turn begins before
}

// takeTurn has a step wait if another is under way on one of its keys; else it is
// under way itself from here on, and the caller's to put.
func (db *database) takeTurn(o *op) (waits bool) {
	t := &turn{op: o, keys: slices.Compact(slices.Sorted(slices.Values(o.keys())))}
	o.turn = t
	s := &db.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = make(map[string]*line)
	}
	for _, key := range t.keys {
		l := s.lines[key]
		if l == nil {
			l = new(line)
			s.lines[key] = l
		}
		if l.turns = append(l.turns, t); len(l.turns) > 1 {
			t.ahead++
		}
	}
	t.called = t.ahead == 0
	rests := s.rests(t)
	if t.called && !rests.After(o.began) {
		return false
	}
	db.inFlight.Add(1)
	if t.called {
		db.again(o, rests)
	}
	return true
}

// rests is until when a turn's keys rest. mu is held.
func (s *turns) rests(t *turn) (until time.Time) {
	for _, key := range t.keys {
		if at := s.lines[key].rests; at.After(until) {
			until = at
		}
	}
	return until
}

// endTurn puts the steps that waited for one which has been answered. failed tells
// that it was because too few masters could vote.
func (db *database) endTurn(t *turn, failed bool) {
	s := &db.turns
	now := time.Now()
	s.mu.Lock()
	next := s.remove(t, now.Add(db.SplitDelay))
	at := make([]time.Time, len(next))
	for i, t := range next {
		at[i] = s.rests(t)
	}
	s.mu.Unlock()
	for i, t := range next {
		db.free(t.op, failed, at[i])
	}
}

// remove takes a turn out of its lines, and calls those that are first by that. A key
// that is wanted rests until a time. mu is held.
func (s *turns) remove(t *turn, rests time.Time) (next []*turn) {
	for _, key := range t.keys {
		l := s.lines[key]
		i := slices.Index(l.turns, t)
		l.turns = slices.Delete(l.turns, i, i+1)
		if i > 0 {
			continue
		}
		if l.wanted {
			l.wanted, l.rests = false, rests
		}
		if len(l.turns) == 0 {
			if l.rests.IsZero() {
				delete(s.lines, key)
			}
			continue
		}
		first := l.turns[0]
		if first.ahead--; first.ahead == 0 {
			first.called = true
			next = append(next, first)
		}
	}
	return next
}

// want notes that another proxy waits for a key, which rests until a time if nobody has
// his turn.
func (s *turns) want(key string, rests time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[key]
	switch {
	case l == nil:
		if s.lines == nil {
			s.lines = make(map[string]*line)
		}
		s.lines[key] = &line{rests: rests}
	case len(l.turns) == 0:
		l.rests = rests
	default:
		l.wanted = true
	}
}

// expireTurns answers the steps that have waited too long, and forgets the lines of
// keys that have rested.
func (db *database) expireTurns(now time.Time) {
	s := &db.turns
	var over, next []*turn
	s.mu.Lock()
	for key, l := range s.lines {
		if len(l.turns) == 0 && !l.rests.After(now) {
			delete(s.lines, key)
		}
		for _, t := range l.turns {
			if !t.called && now.Sub(t.op.began) > db.AcquireTimeout && !slices.Contains(over, t) {
				over = append(over, t)
			}
		}
	}
	for _, t := range over {
		next = append(next, s.remove(t, now)...)
	}
	s.mu.Unlock()
	// One of them may have come to be the first by another's going.
	next = slices.DeleteFunc(next, func(t *turn) bool { return slices.Contains(over, t) })
	for _, t := range over {
		db.inFlight.Add(-1)
		db.decisions[quorum.Run][quorum.Unavailable].Add(1)
		n := len(db.lanes)
		t.op.asker.Answer(quorum.Result{Decision: quorum.Unavailable, Needed: quorum.QuorumOf(n), Masters: n}).Flush()
	}
	for _, t := range next {
		db.tryAgain(t.op)
	}
}
