package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// Collapse: at most one acquire of a key is in flight. Those that come meanwhile
// wait here and then share one next attempt, put to the masters for the first of
// them: a thousand clients that poll one held lock cost the masters one attempt
// a round trip.
//
//	1: A's attempt is in flight; B, C and D ask for the same key
//	2: A is answered; an attempt is made for B, and C and D wait for it
//	3: B has won: C and D are refused. B was refused: so are they
//
// Each shared answer rests on votes that were cast after its client had asked,
// so it is one that a single Redis could have given. That too few masters could
// vote is not shared: the next in line is tried, unless it has waited too long. Nor is
// a refusal that does not tell what is there, with those who ask for that.

// flight is the acquire of one key that is in flight, between retries included,
// and who waits for it.
type flight struct {
	token     string // of the one in flight
	sharing   []*op  // get the answer of the one in flight
	waiting   []*op  // came after it was put: they share what is put next
	asking    bool   // an attempt is put, and not decided
	followers []*op  // no acquires: see follow
	early     int    // how many of them came before the first step of two was won
	barred    bool   // somebody waits for it, and so do all who come after that
	read      bool   // somebody has read the key since it was put

	// shielded says that who frees locks waits for the attempt, too. The last one was spoiled,
	// see spoil, and whoever deletes a key again and again would keep it from being locked. Each
	// such command waits for one attempt at most.
	shielded bool

	// void says that what the masters have granted so far does not count: see spoil.
	void atomic.Bool
}

// flights are used again.
var flights = sync.Pool{New: func() any { return new(flight) }}

// join has an acquire wait if one of its key is in flight; else it is in flight
// itself from here on, and the caller's to put.
func (db *database) join(o *op) (waits bool) {
	s := &db.shards[db.shard(o.Key)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.flights[o.Key]; f != nil {
		f.waiting = append(f.waiting, o)
		db.inFlight.Add(1)
		return true
	}
	if s.flights == nil {
		s.flights = make(map[string]*flight)
	}
	o.flight = flights.Get().(*flight)
	o.flight.token = o.Token
	s.flights[o.Key] = o.flight
	return false
}

// begin is called when an attempt is put: all who have asked by now share it, and what the
// masters grant counts. The shard is locked.
func (f *flight) begin() {
	f.sharing, f.waiting = append(f.sharing, f.waiting...), nil
	f.asking = true
	f.void.Store(false)
}

// finish answers the asker of an op. If it was the acquire in flight, it answers
// those who share the answer, and puts the next attempt.
func (db *database) finish(o *op, r quorum.Result) {
	if r.Tried == nil {
		r.Tried = o.Again
	}
	if o.flight == nil {
		o.flusher = o.asker.Answer(r)
		if o.turn != nil {
			db.endTurn(o.turn, r.Decision == quorum.Unavailable)
		}
		return
	}
	f := o.flight
	failed := r.Decision == quorum.Unavailable || r.Decision == quorum.Won && r.Reply.Kind == quorum.FailureReply
	won := r.Decision == quorum.Won && !failed
	s := &db.shards[db.shard(o.Key)]
	s.mu.Lock()
	sharing, followers, early, read := f.sharing, f.followers, len(f.followers), f.read
	switch {
	case !won:
		early = 0
	case o.first != nil:
		early = f.early
	}
	f.sharing, f.followers, f.asking, f.read = nil, nil, false, false
	if failed {
		sharing, f.waiting = db.impatient(append(sharing, f.waiting...))
	} else if !won && !r.Exists {
		sharing, f.waiting = db.untold(sharing, f.waiting)
	}
	var next *op
	barred := f.barred
	if !barred {
		next = db.nextOf(s, f, o.Key)
	}
	s.mu.Unlock()

	o.flusher = o.asker.Answer(r)
	if failed {
		r = quorum.Result{Decision: quorum.Unavailable, Voted: r.Voted, Needed: r.Needed, Masters: r.Masters, Why: r.Why}
	} else if won {
		// The one in flight holds the lock now.
		r.Decision, r.Exists, r.Type, r.Value, r.Lock, r.Votes = quorum.Contended, true, "string", o.Token, quorum.Lock{}, 0
	}
	db.share(sharing, r)
	db.putFollowers(followers, early, read)
	if barred { // who has come meanwhile waits behind those
		s.mu.Lock()
		db.putBehind(s, f)
		next = db.nextOf(s, f, o.Key)
		s.mu.Unlock()
	}
	if next != nil {
		db.free(next, failed, time.Time{})
	}
}

// nextOf is whose attempt is the next on a key; without one the flight is over. The shard is
// locked.
func (db *database) nextOf(s *shard, f *flight, key string) (next *op) {
	f.shielded = false
	if len(f.waiting) > 0 {
		next, f.waiting = f.waiting[0], f.waiting[1:]
		next.flight, f.token = f, next.Token
		return next
	}
	delete(s.flights, key)
	f.token, f.waiting = "", nil
	f.void.Store(false)
	flights.Put(f)
	return nil
}

// share answers those who share an answer. Those of one client mostly stand
// together, and are sent together.
func (db *database) share(sharing []*op, r quorum.Result) {
	n := uint64(len(sharing))
	db.inFlight.Add(-int64(n))
	db.decisions[quorum.Acquire][r.Decision].Add(n)
	db.shared.Add(n)
	var last quorum.Flusher
	for _, o := range sharing {
		if r.Decision == quorum.Unavailable {
			r.Shortest = db.tooShort(clock.Patience(db.AcquireTimeout, o.TTL))
		}
		if o.Trace != nil {
			o.Trace.Share()
		}
		f := o.asker.Answer(r)
		o.drop()
		if last != nil && f != last {
			last.Flush()
		}
		last = f
	}
	if last != nil {
		last.Flush()
	}
}

// untold puts those who ask for the value that is there, and were not told it, back to
// the head of the line, unless they have waited too long.
func (db *database) untold(sharing, waiting []*op) (rest, line []*op) {
	var again []*op
	for _, o := range sharing {
		if o.TellsValue {
			again = append(again, o)
		} else {
			rest = append(rest, o)
		}
	}
	over, again := db.impatient(again)
	return append(rest, over...), append(again, waiting...)
}

// impatient parts those who have waited as long as a decision may take from
// those who may still be tried: however long the line, nobody waits for the
// masters longer than that. When the engine is closing, nobody is tried.
func (db *database) impatient(line []*op) (over, rest []*op) {
	now := time.Now()
	for _, o := range line {
		if db.closing.Load() || now.Sub(o.began) >= clock.Patience(db.AcquireTimeout, o.TTL) {
			over = append(over, o)
		} else {
			rest = append(rest, o)
		}
	}
	return over, rest
}
