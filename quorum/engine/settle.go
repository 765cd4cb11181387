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
func (e *Engine) decided(o *op, c decide.Votes, now time.Time) (answered bool) {
	d := c.Decision()
	if o.first == nil {
		e.decisions[o.Kind][d].Add(1)
	}
	switch {
	case o.IsStep():
		return e.stepDecided(o, c, now)
	case o.Kind == quorum.Acquire && d == quorum.Won:
		if o.TTL == 0 && o.At == 0 {
			e.persist(o)
			e.inFlight.Add(-1)
			return false
		}
		e.holds.begin(&o.Request, o.ttl, o.put)
	case o.Kind == quorum.Acquire:
		// The undo is in the lanes before the asker hears "no": some clients
		// retry at once with the same token, and must not meet their own leftovers.
		e.undo(o, c, now)
		if d == quorum.Split {
			e.splits.Add(1)
			if e.triesAgain(o, now) {
				e.letFollow(o)
				e.tryLater(o)
				return false
			}
		}
	case o.Kind == quorum.Read && d == quorum.Split:
		if e.triesAgain(o, now) {
			e.tryLater(o)
			return false
		}
	case o.Kind == quorum.Run && d != quorum.Won:
		for i := range e.lanes {
			e.putBack(o, c, i, now)
		}
		if d == quorum.Split {
			e.splits.Add(1)
			if e.triesAgain(o, now) && c.Tally(len(e.lanes)).Granted > 0 && !o.HasFreed(c) {
				e.tryLater(o)
				return false
			}
		}
	case o.Kind == quorum.Run:
		for i := range e.lanes {
			e.bringUp(o, c, i, now)
			e.give(o, c, i, now)
		}
	case o.Kind == quorum.Write:
		for i := range e.lanes {
			e.putBackWrite(o, c, i, now)
		}
	case o.Kind == quorum.Release, o.Kind == quorum.Remove:
		if d == quorum.Won {
			e.holds.end(&o.Request)
		}
		for i := range e.lanes {
			e.oweRelease(o, c, i, now)
		}
	case o.Kind == quorum.Extend && d == quorum.Won:
		for i := range e.lanes {
			e.heal(o, c, i)
		}
	case o.Kind == quorum.Extend && o.first != nil:
		for i := range e.lanes {
			e.unpersist(o, c, i, now)
		}
	}
	if o.Kind == quorum.Run {
		e.announce(o, c)
	}
	e.inFlight.Add(-1)
	r := e.explain(o, c)
	if d == quorum.Won {
		r.Lock = lockWon(o)
	}
	e.finish(o, r)
	return true
}

// late acts on a vote that came after the decision.
func (e *Engine) late(o *op, c decide.Votes, i int, now time.Time) {
	d := c.Decision()
	switch {
	case o.IsStep():
		e.stepLate(o, c, i, now)
	case o.Kind == quorum.Acquire && d != quorum.Won:
		if c.Did(i) {
			e.lanes[i].queue.undoLock(o.undoing(i, now), o, o.sent[i].ordinal, now)
		}
	case o.untold.Load():
		e.takeBack(o, c, i, now)
	case o.Kind == quorum.Run && (d != quorum.Won || c.Did(i) && e.intrudes(o, i, now)):
		e.putBack(o, c, i, now)
	case o.Kind == quorum.Write:
		e.putBackWrite(o, c, i, now)
	case o.Kind == quorum.Release, o.Kind == quorum.Remove:
		if c.Vote(i) != quorum.Granted {
			e.oweRelease(o, c, i, now)
			return
		}
		if c.Tally(len(e.lanes)).Granted > 1 {
			return
		}
		for j := range e.lanes { // now it is known when the lock ends
			e.oweRelease(o, c, j, now)
		}
	case o.Kind == quorum.Extend && d == quorum.Won:
		e.heal(o, c, i)
	case o.Kind == quorum.Extend && o.first != nil:
		e.unpersist(o, c, i, now)
	}
}

// undo takes a lost acquire back from every master that carried it out. A
// master that refused holds somebody else's lock, perhaps under the same token:
// clients do lock with a constant. It is left alone, and so is one whose vote
// is unknown until its grant is known.
func (e *Engine) undo(o *op, c decide.Votes, now time.Time) {
	for i, l := range e.lanes {
		if c.Did(i) {
			l.queue.undoLock(o.undoing(i, now), o, o.sent[i].ordinal, now)
		}
	}
}

// putBackWrite undoes a plain write on master i if it was carried out there and
// by no quorum. A master that only held something else before is set right by it,
// unless it was that whose life has changed, or it was late (see bound.go).
func (e *Engine) putBackWrite(o *op, c decide.Votes, i int, now time.Time) {
	if c.Did(i) && c.Decision() == quorum.Won {
		if s, _ := o.Outcome(c); decide.HasActed(&o.Request, s.Reply) && dump.SameValue(s.Value, o.Said[i].Value) && !e.intrudes(o, i, now) {
			return
		}
	}
	e.putBack(o, c, i, now)
}

// putBack undoes what a lost journaled script, or write, made of its keys on
// master i.
func (e *Engine) putBack(o *op, c decide.Votes, i int, now time.Time) {
	if !c.Did(i) || o.Said[i].Journal == nil {
		return // a removal, for one, is never put back
	}
	records := o.Said[i].Journal.Undo
	for j := range records {
		r := &records[j]
		d := o.puttingBack(i, r, r, now)
		d.dies = now.Add(r.Lives() + clock.Drift(r.Lives()))
		if d.eternal {
			d.dies = now.Add(e.MaxTTL)
		}
		if c.Decision() == quorum.Won && o.strange(r) || r.Lengthens() {
			// It is told from all else by its value and end; and that it lives longer
			// costs nobody a lock.
			e.lanes[i].queue.undo(d, now)
		} else {
			e.lanes[i].queue.undoBehind(d, memoryOf(e.hash(r.Key)), o.sent[i].ordinal, now)
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
		since:   now.Add(sent.asked.To - o.engine.Boot()),
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
func (e *Engine) oweRelease(o *op, c decide.Votes, i int, now time.Time) {
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
		d.dies = now.Add(left + clock.Drift(left) + e.MasterTimeout)
	}
	if d.eternal {
		d.dies = now.Add(e.MaxTTL)
	}
	if told >= 0 || d.eternal {
		e.lanes[i].queue.owe(d, o, told, left, now)
	}
}

// heal gives the key again to master i, which had lost it when the lock was
// extended.
func (e *Engine) heal(o *op, c decide.Votes, i int) {
	if o.missing(c, i) {
		e.lanes[i].queue.heal(o)
	}
}

// missing tells that master i had no key to extend.
func (o *op) missing(c decide.Votes, i int) bool {
	return c.Vote(i) == quorum.Refused && o.Said[i].Absent
}

// persist is the second step of an acquire without ttl.
func (e *Engine) persist(o *op) {
	o.keep()
	second := newOp(&quorum.Request{Kind: quorum.Extend, Key: o.Key, Token: o.Token}, o.asker)
	second.first, second.Second, second.flight = o, true, o.flight
	second.began = o.began
	e.try(second, time.Now())
}

// unpersist takes an acquire without ttl back whose second step failed, or of which its
// client was never told. Master i may hold it with its short ttl, or without any.
func (e *Engine) unpersist(o *op, c decide.Votes, i int, now time.Time) {
	first := o.first.ballot.Load().Did(i)
	if !first && !c.Did(i) && !o.missing(c, i) {
		return
	}
	d, sent := o.first.undoing(i, now), o.first.sent[i].ordinal
	if !first {
		d.nonce, sent = o.sent[i].nonce, o.sent[i].ordinal
	}
	d.eternal, d.dies = true, now.Add(e.MaxTTL)
	e.lanes[i].queue.undoLock(d, o, sent, now)
}

// triesAgain tells whether a split op may be tried once more, and will be before its time is
// up. Where who deletes its key has spoiled the last try, it gets one more, which is guarded.
func (e *Engine) triesAgain(o *op, now time.Time) bool {
	tries := e.SplitRetries
	if o.flight != nil && o.flight.void.Load() {
		tries++
	}
	return o.attempt < tries && !e.closing.Load() && o.hasTime(now)
}

// hasTime tells that the op can be tried once more before its time is up.
func (o *op) hasTime(now time.Time) bool {
	return now.Add(o.engine.SplitDelay).Before(o.put.Add(o.patience))
}

// tryLater has a split op tried once more after a random delay. Until then it
// stays in flight.
func (e *Engine) tryLater(o *op) {
	least := e.SplitDelay / 5
	delay := least + rand.N(e.SplitDelay-least+1)
	next := newOp(&o.Request, o.asker)
	next.attempt, next.flight, next.turn, next.began = o.attempt+1, o.flight, o.turn, o.began
	e.again(next, time.Now().Add(delay))
}
