package engine

import (
	"math/rand/v2"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// decided acts on the decision in c, which just fell, and answers the asker
// unless there is more to do. It runs on the goroutine that cast the vote.
func (db *database) decided(o *op, c decide.Votes, now time.Time) (answered bool) {
	d := c.Decision()
	if o.first == nil {
		db.decisions[o.Kind][d].Add(1)
	}
	switch {
	case o.IsStep():
		return db.stepDecided(o, c, now)
	case o.Kind == quorum.Acquire && d == quorum.Won:
		if o.TTL == 0 && o.At == 0 {
			db.persist(o)
			db.inFlight.Add(-1)
			return false
		}
		db.holds.begin(&o.Request, o.ttl, o.put)
	case o.Kind == quorum.Acquire:
		// The undo is in the lanes before the asker hears "no": some clients
		// retry at once with the same token, and must not meet their own leftovers.
		db.undo(o, c, now)
		if d == quorum.Split {
			db.splits.Add(1)
			if db.triesAgain(o, now) {
				db.letFollow(o)
				db.tryLater(o)
				return false
			}
		}
	case o.Kind == quorum.Read && d == quorum.Split:
		if db.triesAgain(o, now) {
			db.tryLater(o)
			return false
		}
	case o.Kind == quorum.Run && d != quorum.Won:
		for i := range db.lanes {
			db.putBack(o, c, i, now)
		}
		if d == quorum.Split {
			db.splits.Add(1)
			if db.triesAgain(o, now) && c.Tally(len(db.lanes)).Granted > 0 && !o.HasFreed(c) {
				db.tryLater(o)
				return false
			}
		}
	case o.Kind == quorum.Run:
		for i := range db.lanes {
			db.bringUp(o, c, i, now)
			db.give(o, c, i, now)
		}
	case o.Kind == quorum.Write:
		for i := range db.lanes {
			db.putBackWrite(o, c, i, now)
		}
	case o.Kind == quorum.Release, o.Kind == quorum.Remove:
		if d == quorum.Won {
			db.holds.end(&o.Request)
		}
		for i := range db.lanes {
			db.oweRelease(o, c, i, now)
		}
	case o.Kind == quorum.Extend && d == quorum.Won:
		for i := range db.lanes {
			db.heal(o, c, i)
		}
	case o.Kind == quorum.Extend && o.first != nil:
		for i := range db.lanes {
			db.unpersist(o, c, i, now)
		}
	}
	if o.Kind == quorum.Run {
		db.announce(o, c)
	}
	db.inFlight.Add(-1)
	r := db.explain(o, c)
	if d == quorum.Won {
		r.Lock = lockWon(o)
	}
	db.finish(o, r)
	return true
}

// late acts on a vote that came after the decision.
func (db *database) late(o *op, c decide.Votes, i int, now time.Time) {
	d := c.Decision()
	switch {
	case o.IsStep():
		db.stepLate(o, c, i, now)
	case o.Kind == quorum.Acquire && d != quorum.Won:
		if c.Did(i) {
			db.lanes[i].queue.undoLock(o.undoing(i, now), o, o.sent[i].ordinal, now)
		}
	case o.untold.Load():
		db.takeBack(o, c, i, now)
	case o.Kind == quorum.Run && (d != quorum.Won || c.Did(i) && db.intrudes(o, i, now)):
		db.putBack(o, c, i, now)
	case o.Kind == quorum.Write:
		db.putBackWrite(o, c, i, now)
	case o.Kind == quorum.Release, o.Kind == quorum.Remove:
		if c.Vote(i) != quorum.Granted {
			db.oweRelease(o, c, i, now)
			return
		}
		if c.Tally(len(db.lanes)).Granted > 1 {
			return
		}
		for j := range db.lanes { // now it is known when the lock ends
			db.oweRelease(o, c, j, now)
		}
	case o.Kind == quorum.Extend && d == quorum.Won:
		db.heal(o, c, i)
	case o.Kind == quorum.Extend && o.first != nil:
		db.unpersist(o, c, i, now)
	}
}

// undo takes a lost acquire back from every master that carried it out. A
// master that refused holds somebody else's lock, perhaps under the same token:
// clients do lock with a constant. It is left alone, and so is one whose vote
// is unknown until its grant is known.
func (db *database) undo(o *op, c decide.Votes, now time.Time) {
	for i, l := range db.lanes {
		if c.Did(i) {
			l.queue.undoLock(o.undoing(i, now), o, o.sent[i].ordinal, now)
		}
	}
}

// putBackWrite undoes a plain write on master i if it was carried out there and
// by no quorum. A master that only held something else before is set right by it,
// unless it was that whose life has changed, or it was late (see bound.go).
func (db *database) putBackWrite(o *op, c decide.Votes, i int, now time.Time) {
	if c.Did(i) && c.Decision() == quorum.Won {
		if s, _ := o.Outcome(c); decide.HasActed(&o.Request, s.Reply) && dump.SameValue(s.Value, o.Said[i].Value) && !db.intrudes(o, i, now) {
			return
		}
	}
	db.putBack(o, c, i, now)
}

// putBack undoes what a lost journaled script, or write, made of its keys on
// master i.
func (db *database) putBack(o *op, c decide.Votes, i int, now time.Time) {
	if !c.Did(i) || o.Said[i].Journal == nil {
		return // a removal, for one, is never put back
	}
	records := o.Said[i].Journal.Undo
	for j := range records {
		r := &records[j]
		d := o.puttingBack(i, r, r, now)
		d.dies = now.Add(r.Lives() + clock.Drift(r.Lives()))
		if d.eternal {
			d.dies = now.Add(db.MaxTTL)
		}
		if c.Decision() == quorum.Won && o.strange(r) || r.Lengthens() {
			// It is told from all else by its value and end; and that it lives longer
			// costs nobody a lock.
			db.lanes[i].queue.undo(d, now)
		} else {
			db.lanes[i].queue.undoBehind(d, memoryOf(db.hash(r.Key)), o.sent[i].ordinal, now)
		}
	}
}

// puttingBack makes what back says of a key on master i, where it is still as a script, or
// write, has made it.
func (o *op) puttingBack(i int, made, back *decide.UndoRecord, now time.Time) debt {
	sent := &o.sent[i]
	d := debt{
		key:     made.Key,
		value:   made.After,
		nonce:   sent.nonce,
		eternal: made.Expires < 0, // or nothing is there
		back:    back,
		since:   now.Add(sent.asked.To - o.db.Boot()),
	}
	if !d.eternal {
		d.ends = sent.done.Ends(made.Lives())
	}
	if left := clock.OfMilliseconds(back.Left); left > 0 && back.Before != "" && sent.done.Ends(left).Known() {
		d.ended = sent.done.To + left
	}
	return d
}

// undoing takes an acquire back from master i.
func (o *op) undoing(i int, now time.Time) debt {
	ttl := time.Duration(clock.Milliseconds(o.ttl)) * time.Millisecond
	return debt{
		key:   o.Key,
		value: o.Token,
		nonce: o.sent[i].nonce,
		ends:  o.sent[i].done.Ends(ttl),
		dies:  now.Add(o.ttl + clock.Drift(o.ttl)),
	}
}

// oweRelease owes a release to master i if its vote is unknown. Without a master that
// has released the lock it is not known when it ends, and nothing can be owed. What that
// has told is carried over to master i's clock: nobody else has told when the lock ends
// there.
func (db *database) oweRelease(o *op, c decide.Votes, i int, now time.Time) {
	if c.Vote(i) != quorum.Unknown {
		return
	}
	d := debt{key: o.Key, value: o.Token}
	if o.Kind == quorum.Remove {
		s, _ := o.Held(c)
		if !s.Named {
			return
		}
		d.value = s.Value
	}
	told, longest := -1, int64(0)
	for j := range o.Said {
		if c.Vote(j) != quorum.Granted {
			continue // and may be writing what it has said
		}
		switch left := o.Said[j].Left; {
		case left == decide.SaysNoTTL:
			d.eternal = true
		case told < 0 || left > longest:
			told, longest = j, left
		}
	}
	left := clock.OfMilliseconds(longest)
	if told >= 0 {
		d.dies = now.Add(left + clock.Drift(left) + db.MasterTimeout)
	}
	if d.eternal {
		d.dies = now.Add(db.MaxTTL)
	}
	if told >= 0 || d.eternal {
		db.lanes[i].queue.owe(d, o, told, left, now)
	}
}

// heal gives the key again to master i, which had lost it when the lock was
// extended.
func (db *database) heal(o *op, c decide.Votes, i int) {
	if o.missing(c, i) {
		db.lanes[i].queue.heal(o)
	}
}

// missing tells that master i had no key to extend.
func (o *op) missing(c decide.Votes, i int) bool {
	return c.Vote(i) == quorum.Refused && o.Said[i].Absent
}

// persist is the second step of an acquire without ttl.
func (db *database) persist(o *op) {
	o.keep()
	second := newOp(&quorum.Request{Kind: quorum.Extend, Key: o.Key, Token: o.Token}, o.asker)
	second.first, second.Second, second.flight = o, true, o.flight
	second.began = o.began
	db.try(second, time.Now())
}

// unpersist takes an acquire without ttl back whose second step failed, or of which its
// client was never told. Master i may hold it with its short ttl, or without any.
func (db *database) unpersist(o *op, c decide.Votes, i int, now time.Time) {
	first := o.first.ballot.Load().Did(i)
	if !first && !c.Did(i) && !o.missing(c, i) {
		return
	}
	d, sent := o.first.undoing(i, now), o.first.sent[i].ordinal
	if !first {
		d.nonce, sent = o.sent[i].nonce, o.sent[i].ordinal
	}
	d.eternal, d.dies = true, now.Add(db.MaxTTL)
	db.lanes[i].queue.undoLock(d, o, sent, now)
}

// triesAgain tells whether a split op may be tried once more, and will be before its time is
// up. Where who deletes its key has spoiled the last try, it gets one more, which is guarded.
func (db *database) triesAgain(o *op, now time.Time) bool {
	tries := db.SplitRetries
	if o.flight != nil && o.flight.void.Load() {
		tries++
	}
	return o.attempt < tries && !db.closing.Load() && o.hasTime(now)
}

// hasTime tells that the op can be tried once more before its time is up.
func (o *op) hasTime(now time.Time) bool {
	return now.Add(o.db.SplitDelay).Before(o.put.Add(o.patience))
}

// tryLater has a split op tried once more after a random delay. Until then it
// stays in flight.
func (db *database) tryLater(o *op) {
	least := db.SplitDelay / 5
	delay := least + rand.N(db.SplitDelay-least+1)
	next := newOp(&o.Request, o.asker)
	next.attempt, next.flight, next.turn, next.began = o.attempt+1, o.flight, o.turn, o.began
	db.again(next, time.Now().Add(delay))
}
