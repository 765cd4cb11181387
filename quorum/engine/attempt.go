package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
)

// try is one attempt at a request. The op is not the caller's any more.
func (db *database) try(o *op, now time.Time) { db.tryStaying(o, now, nil) }

// tryStaying is try by who stays, if s is not nil.
func (db *database) tryStaying(o *op, now time.Time, s *stay) {
	n := len(db.lanes)
	o.db, o.put, o.sleeps = db, now, db.sleeps.Load()
	if len(o.Said) != n {
		o.Said, o.sent = make([]decide.Said, n), make([]sending, n)
	}
	if !db.asks(o) {
		behind := db.unbarUnasked(o)
		o.flusher.Flush()
		o.drop()
		db.tryAllAgain(behind)
		return
	}
	if db.inFlight.Add(1) > 1 {
		s = nil
	}
	missed, borrowed, waits, behind := db.push(o, s)
	if waits {
		return
	}
	defer db.tryAllAgain(behind)
	defer o.drop()
	if missed != 0 {
		db.castMissed(o, missed)
	}
	if borrowed != 0 {
		s.carry(db, borrowed)
	}
}

// castMissed casts the votes of the lanes that did not take an op.
func (db *database) castMissed(o *op, missed decide.Votes) {
	answered := false
	for i := range db.lanes {
		if v := missed.Vote(i); v != 0 {
			answered = o.vote(i, v, false, o.put) || answered
		}
	}
	if answered {
		o.flusher.Flush()
	}
}

// push puts an op into all lanes in one step, and returns the votes of those that
// did not take it, which of the others were borrowed for who stays, if s is not nil, and who has waited for it.
// Or it has the op wait, which counts as in flight.
func (db *database) push(o *op, s *stay) (missed decide.Votes, borrowed uint16, waits bool, behind []*op) {
	o.place = db.place(o.Key)
	o.takeWeight()
	if o.kind().byToken {
		o.lock = db.lockHash(o.Key, o.Token)
	}
	switch {
	case len(o.Keys) < 2 && !o.kind().everyKey:
		mu := &db.shards[o.place.tag%shards].mu // the rule, and cheaper
		mu.Lock()
		defer mu.Unlock()
	case o.Flushes():
		defer db.spoilFlushed(&o.Request)()
	default:
		defer db.lock(&o.Request)()
	}
	if db.barred(o) || db.follow(o) {
		return 0, 0, true, nil
	}
	if o.Again != nil { // not before: while it waits it may come to nothing, and has not been put then
		if o.Without = o.Again.MayHaveDone(); o.Without != 0 {
			o.before = o.Again
		}
		o.Again = nil
	}
	if o.Kind == quorum.Acquire {
		o.flight.begin()
	}
	if o.Trace != nil {
		o.traced = o.Trace.Begin(o.Kind, len(db.lanes), o.put)
	}
	db.spoil(o)
	for i, l := range db.lanes {
		if !o.Asks(i) {
			o.sent[i].unsent = true
			missed = missed.Voted(i, quorum.Withheld, false)
			continue
		}
		v, lent := l.queue.push(o, s)
		if v != 0 {
			missed = missed.Voted(i, v, false)
		}
		if lent {
			borrowed |= 1 << i
		}
	}
	return missed, borrowed, false, db.unbar(o)
}

// asks works out the times of an op. If there is nothing to ask the masters,
// it answers and returns false.
func (db *database) asks(o *op) bool {
	if db.ends(o) && o.first == nil && o.follows == 0 {
		return db.answer(o, quorum.Result{Decision: quorum.Unavailable, Why: "this proxy is shutting down"})
	}
	ttl := o.TTL
	o.Far = clock.Far(o.Far)
	if o.At != 0 {
		now, known := db.now()
		if !known {
			return db.answer(o, quorum.Result{Decision: quorum.Unavailable, NoTime: true})
		}
		if o.Far = clock.Far(o.At - now.UnixMilli()); o.Far > 0 {
			o.At = 0
		} else {
			ttl = time.UnixMilli(o.At).Sub(now)
		}
		if ttl <= 0 && o.Far == 0 && !o.end() {
			return db.answer(o, quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{
				Kind: quorum.FailureReply, Str: "ERR invalid expire time in 'set' command",
			}})
		}
	}
	eternal := ttl == 0 && o.At == 0
	if k := o.kind(); k.givesTTL && o.attempt == 0 && o.first == nil && o.follows == 0 && (ttl > db.MaxTTL || o.Far > 0 || eternal && k.locks) {
		db.overTTL.Add(1)
	}
	if o.Kind == quorum.Extend && o.first == nil && !db.heldLocks.Extends(&o.Request, max(ttl, 0), o.put) {
		db.held.Add(1)
		return db.answer(o, quorum.Result{Decision: quorum.Contended})
	}
	if o.Kind == quorum.Write && !db.heldLocks.Keeps(&o.Request, ttl, o.put) {
		db.held.Add(1)
		return db.answer(o, quorum.Result{Decision: quorum.Won, Reply: db.heldLocks.Refusal(&o.Request)})
	}
	if o.Kind == quorum.Acquire && eternal {
		// It is set with a short ttl, and loses that once it is won: what it
		// leaves behind where it fails dies by itself.
		ttl = db.firstTTL()
	}
	o.patience = db.AcquireTimeout
	if o.kind().locks {
		o.patience = clock.Patience(db.AcquireTimeout, ttl)
	}
	switch {
	case !o.GivesBack:
		o.patience -= o.waited()
	case o.attempt == 0:
		o.began = o.put // however long it has waited for its turn: nobody would do it instead
	}
	if o.patience <= 0 && !o.kind().frees && o.first == nil {
		// It has only waited, and its time is up.
		db.decisions[o.Kind][quorum.Unavailable].Add(1)
		return db.answer(o, quorum.Result{Decision: quorum.Unavailable, Shortest: db.tooShort(o.patience + o.waited())})
	}
	if m, mends := o.asker.(*mending); mends {
		o.patience = min(o.patience, m.patience())
	}
	o.prepare(ttl)
	return true
}

// firstTTL is what a lock has that is taken without a ttl, before its second step.
func (db *database) firstTTL() time.Duration { return 4*db.AcquireTimeout + db.MasterTimeout }

// end makes of a request whose time has passed already what it amounts to. It
// returns false if it amounts to nothing that could be done.
func (o *op) end() bool {
	switch {
	case o.Kind == quorum.Extend:
		o.Kind, o.At = quorum.Release, 0
	case o.Kind == quorum.Write && o.Args[0] == "PEXPIRE" && len(o.Args) == o.TTLArg+1:
		o.Kind, o.At = quorum.Remove, 0
	case o.Kind == quorum.Write && o.Args[0] == "PEXPIRE": // whether flags forbid it only the masters know
		o.Args = slices.Clone(o.Args)
		o.Args[o.TTLArg] = "-1"
		o.TTLArg, o.At = 0, 0
	default:
		return false
	}
	return true
}

func (db *database) answer(o *op, r quorum.Result) bool {
	db.finish(o, db.unasked(r))
	return false
}

// unasked is a result for which no master was asked. Where a quorum of them can vote, it was for having
// waited too long.
func (db *database) unasked(r quorum.Result) quorum.Result {
	r.Needed, r.Masters = quorum.QuorumOf(len(db.lanes)), len(db.lanes)
	if r.Decision == quorum.Unavailable {
		s := db.shortage(nil, nil)
		r.Voted = s.can
		switch {
		case r.Why != "":
		case s.can >= r.Needed:
			r.Why = "its turn has not come in time"
		default:
			r.Why = s.String()
		}
	}
	return r
}
