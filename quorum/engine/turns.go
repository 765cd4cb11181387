package engine

import (
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// Turns: at most one step on keys of one tag is under way at a proxy, between tries included:
// they have one latch. Those that come meanwhile wait here, in order, as long as a decision may
// take. One that is about several tags waits until it is the first on each of them.
//
// When the latches of this proxy have kept another one out, the tag rests for a while
// before the next turn: that would otherwise find every master free in the very batch
// that lets go of them, and the other proxy none.

// turn is a step's place in the lines of the tags of its keys.
type turn struct {
	op     *op
	tags   []string
	ahead  int // lines in which another one is the first
	called bool
	over   bool // it has waited too long, and is in no line any more
}

type turns struct {
	mu    sync.Mutex // guards lines, and the turns in them
	lines map[string]*line
}

// line is the turns on one tag. The first may be under way.
type line struct {
	turns  []*turn
	wanted bool      // the latch of the first has kept another proxy out
	rests  time.Time // no turn begins before
}

// takeTurn has a step wait if another is under way on one of its tags; else it is
// under way itself from here on, and the caller's to put.
func (db *database) takeTurn(o *op) (waits bool) {
	t := &turn{op: o, tags: o.tags()}
	o.turn = t
	s := &db.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = make(map[string]*line)
	}
	for _, tag := range t.tags {
		l := s.lines[tag]
		if l == nil {
			l = new(line)
			s.lines[tag] = l
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

// rests is until when a turn's tags rest. mu is held.
func (s *turns) rests(t *turn) (until time.Time) {
	for _, tag := range t.tags {
		if at := s.lines[tag].rests; at.After(until) {
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

// remove takes a turn out of its lines, of each of which it is the first, and calls those that
// are it by that. A tag that is wanted rests until a time. mu is held.
func (s *turns) remove(t *turn, rests time.Time) (next []*turn) {
	for _, tag := range t.tags {
		l := s.lines[tag]
		l.turns[0] = nil
		l.turns = l.turns[1:]
		next = s.advance(tag, l, rests, next)
	}
	return next
}

// advance calls who has come to be the first of a line, if all else has its turn, and appends
// it to next. A tag that is wanted rests until a time. mu is held.
func (s *turns) advance(tag string, l *line, rests time.Time, next []*turn) []*turn {
	if l.wanted {
		l.wanted, l.rests = false, rests
	}
	if len(l.turns) == 0 {
		if l.rests.IsZero() {
			delete(s.lines, tag)
		}
		return next
	}
	first := l.turns[0]
	if first.ahead--; first.ahead == 0 {
		first.called = true
		next = append(next, first)
	}
	return next
}

// want notes that another proxy waits for a tag, which rests until a time if nobody has
// his turn.
func (s *turns) want(tag string, rests time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[tag]
	switch {
	case l == nil:
		if s.lines == nil {
			s.lines = make(map[string]*line)
		}
		s.lines[tag] = &line{rests: rests}
	case len(l.turns) == 0:
		l.rests = rests
	default:
		l.wanted = true
	}
}

// expireTurns answers the steps that have waited too long, and forgets the lines of
// tags that have rested.
func (db *database) expireTurns(now time.Time) {
	over, next := db.turns.expire(now, db.AcquireTimeout)
	r := quorum.Result{Decision: quorum.Unavailable}
	if len(over) > 0 {
		r = db.unasked(r)
	}
	for _, t := range over {
		db.inFlight.Add(-1)
		db.decisions[quorum.Run][quorum.Unavailable].Add(1)
		t.op.asker.Answer(r).Flush()
	}
	for _, t := range next {
		db.tryAgain(t.op)
	}
}

// expire takes those out of all lines that have waited for longer than patience, and calls
// those that are first by that. As many may be overdue at once as clients wait for a key, and
// all others wait for mu: so each line is gone through once, whoever leaves it.
func (s *turns) expire(now time.Time, patience time.Duration) (over, next []*turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, l := range s.lines {
		if len(l.turns) == 0 {
			if !l.rests.After(now) {
				delete(s.lines, tag)
			}
			continue
		}
		first := l.turns[0]
		l.turns = slices.DeleteFunc(l.turns, func(t *turn) bool {
			late := !t.called && now.Sub(t.op.began) > patience && !t.op.GivesBack
			if late && !t.over {
				t.over = true
				over = append(over, t)
			}
			return late
		})
		if first.over {
			next = s.advance(tag, l, now, next)
		}
	}
	return over, next
}
