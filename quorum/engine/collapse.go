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
	token   string // of the one in flight
	sharing []*op  // get the answer of the one in flight
	waiting []*op  // came after it was put: they share what is put next
	asking  bool   // an attempt is put, and not decided
	behind  []*op  // no acquires: see follow
	guarded bool   // see guard
	barred  bool   // somebody waits for that, and so do all who come after it

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

// follow has an op wait that would act on what the acquire in flight has set so far,
// and may have to take back: it is put to the masters right behind the decision.
// Tokens may be constants, and some commands name none. A script that may write waits for
// whatever it is given: put behind the acquire, it would spoil that. One that may not does
// neither, or whoever looks at a key would keep it from being locked. Nothing waits for a
// split acquire to be tried again: that may be after its own lock has ended. If the lock
// ends before the decision all the same, see tooLate. It waits as often as it is about keys,
// at most. The shards are locked.
//
//	1: A holds k as "1" on masters 1 and 2; master 2 hangs
//	2: B asks for k as "1": master 3 grants, 1 refuses
//	3: A extends: 1 and 3 say yes, and that would be a quorum
//	4: B is refused, and its "1" taken back from 3: nobody but 1 knows of A
func (db *database) follow(o *op) (waits bool) {
	if !o.Undecides() && db.guarded.Load() == 0 || o.flight != nil || o.Kind == quorum.Survey {
		return false
	}
	keys := o.keys()
	if int(o.follows) >= len(keys) {
		return false
	}
	for _, key := range keys {
		f := db.shards[db.shard(key)].flights[key]
		if f != nil && (f.asking && o.Undecides() && o.actsOn(f.token) || f.bars(o)) {
			o.follows++
			f.behind = append(f.behind, o)
			return true
		}
	}
	return false
}

// spoil tells the acquire in flight of a key that another client's command on the key
// is about to be put behind it, which may take what it was granted. If it wins on the
// masters all the same, it counts as split, and is tried again behind that command.
// The shards of its keys are locked, so that no lane sees the two in another order.
//
//	1: A holds k on masters 2 and 3; master 3 is slow
//	2: B asks for k: master 1 grants, 2 refuses
//	3: A deletes k: that of B on 1, its own on 2
//	4: A's k ends on 3, which then grants k to B, and deletes it, too: B would have a
//	   quorum, and no master would hold k
func (db *database) spoil(o *op) {
	switch o.Kind {
	case quorum.Release, quorum.Remove, quorum.Write:
		db.spoilKey(o.Key, o)
	case quorum.Run:
		if o.Script.Reads {
			return
		}
		for _, key := range o.Keys {
			db.spoilKey(key, o)
		}
	}
}

// spoilFlushed is spoil of a flush, for all keys of the databases that it empties, whose
// shards it locks: to a master the way of another database is another.
func (db *database) spoilFlushed(r *quorum.Request) (unlock func()) {
	list := db.flushedBy(r)
	unlock = lockAll(list)
	for _, db := range list {
		for i := range db.shards {
			for _, f := range db.shards[i].flights {
				f.void.Store(true)
			}
		}
	}
	return unlock
}

func (db *database) spoilKey(key string, o *op) {
	f := db.shards[db.shard(key)].flights[key]
	if f != nil && (o.Kind != quorum.Release || o.Token == f.token) {
		f.void.Store(true)
	}
}

// guard has what would spoil the next attempt wait behind it, or no more. It is for one
// that was spoiled: whoever deletes a key again and again would keep it from being locked.
// Each such command waits for one attempt at most. The shard is locked.
func (db *database) guard(f *flight, on bool) {
	switch {
	case on && !f.guarded:
		db.guarded.Add(1)
	case !on && f.guarded:
		db.guarded.Add(-1)
	}
	f.guarded = on
}

// bars tells that an op has to wait behind a guarded attempt. Once one that a client may put
// others behind does so, all others wait, too: the order on a key is kept. The shard is locked.
func (f *flight) bars(o *op) bool {
	f.barred = f.barred || f.asking && f.guarded &&
		(o.Kind == quorum.Release && o.Token == f.token || o.Kind == quorum.Remove || o.Kind == quorum.Write)
	return f.barred
}

// letFollow puts those that have followed an attempt which is to be made once more.
func (db *database) letFollow(o *op) {
	f, s := o.flight, &db.shards[db.shard(o.Key)]
	s.mu.Lock()
	defer s.mu.Unlock()
	f.asking = false
	spoiled := f.void.Load()
	db.putBehind(s, f)
	db.guard(f, spoiled)
}

// putBehind puts those that have followed, and those who come meanwhile and may not pass
// them. The shard is locked, and is not while they are put.
func (db *database) putBehind(s *shard, f *flight) {
	for len(f.behind) > 0 {
		behind := f.behind
		f.behind = nil
		s.mu.Unlock()
		for _, o := range behind {
			db.tryAgain(o)
		}
		s.mu.Lock()
	}
	f.barred = false
}

// actsOn tells that what an op does to its key may be different if it holds the token.
func (o *op) actsOn(token string) bool {
	switch o.Kind {
	case quorum.Extend:
		return o.Token == token
	case quorum.Run:
		return !o.Script.Reads
	}
	return true
}

// finish answers the asker of an op. If it was the acquire in flight, it answers
// those who share the answer, and puts the next attempt.
func (db *database) finish(o *op, r quorum.Result) {
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
	sharing, behind := f.sharing, f.behind
	f.sharing, f.behind, f.asking = nil, nil, false
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
		r.Decision, r.Exists, r.Type, r.Value, r.Lock = quorum.Contended, true, "string", o.Token, quorum.Lock{}
	}
	db.share(sharing, r)
	for _, o := range behind {
		if won && o.Kind == quorum.Extend {
			db.tooLate(o)
		} else {
			db.tryAgain(o)
		}
	}
	if barred { // who has come meanwhile waits behind those
		s.mu.Lock()
		db.putBehind(s, f)
		next = db.nextOf(s, f, o.Key)
		s.mu.Unlock()
	}
	switch {
	case next == nil:
	case failed:
		// Not from here: where no master is left this would go as deep as the
		// line is long.
		db.again(next, time.Now())
	default:
		db.tryAgain(next)
	}
}

// nextOf is whose attempt is the next on a key; without one the flight is over. The shard is
// locked.
func (db *database) nextOf(s *shard, f *flight, key string) (next *op) {
	db.guard(f, false)
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

// tooLate says no to an extension that has waited behind an acquire which is won: the lock
// that it was to extend had ended, or this would not have been free. Who asked is not who
// has won: a client that knows of its lock no more waits for it, and the proxy puts what
// one connection asks about a key one after the other.
//
//	1: A's "1" on k ends in 50 ms; B asks for k as "1": master 1 refuses, 2 and 3 are slow
//	2: A extends, and waits for B's decision; meanwhile its k ends
//	3: B is granted k by 2 and 3. A would extend that: both would hold k, and by A's ttl
func (db *database) tooLate(o *op) {
	db.inFlight.Add(-1)
	db.decisions[quorum.Extend][quorum.Contended].Add(1)
	db.answer(o, quorum.Result{Decision: quorum.Contended, Absent: true})
	o.flusher.Flush()
	o.drop()
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
