package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// An acquire is SET NX, and what is lost of it is undone. One without ttl is a lock with a short
// one first, and loses that in a second step, which is an extension.

var acquireKind = kind{locks: true, givesTTL: true, byToken: true, undoable: true, alike: true}

func (o *op) acquireArgv(b []string, seven bool) []string {
	if !seven {
		return append(acquireScript.Call(b, o.Key), o.Token, o.px)
	}
	return append(b, "SET", o.Key, o.Token, "NX", "GET", "PX", o.px)
}

// acquired is what follows from an acquire. It tells whether its asker waits for more.
func (r ruling) acquired() (waits bool) {
	if r.votes.Decision() == quorum.Won {
		if r.TTL == 0 && r.At == 0 {
			r.persist()
			r.db.inFlight.Add(-1)
			return true
		}
		r.db.heldLocks.Begin(&r.Request, r.ttl, r.put)
		return false
	}
	// The undo is in the lanes before the asker hears "no": some clients
	// retry at once with the same token, and must not meet their own leftovers.
	r.undo()
	if r.votes.Decision() == quorum.Split {
		r.db.splits.Add(1)
		if r.mayTryAgain() {
			r.db.letFollow(r.op)
			r.tryLater()
			return true
		}
	}
	return false
}

// undo takes a lost acquire back from every master that carried it out.
func (r ruling) undo() {
	for i := range r.db.lanes {
		r.undoOn(i)
	}
}

// undoOn takes a lost acquire back from master i, if that carried it out. A
// master that refused holds somebody else's lock, perhaps under the same token:
// clients do lock with a constant. It is left alone, and so is one whose vote
// is unknown until its grant is known.
func (r ruling) undoOn(i int) {
	if r.votes.Did(i) {
		d := r.undoing(i, r.now)
		d.lost = r.lostOn(i)
		r.db.lanes[i].queue.undo(d, r.now)
	}
}

// undoing takes an acquire back from master i.
func (o *op) undoing(i int, now time.Time) debt {
	ttl := time.Duration(clock.Milliseconds(o.ttl)) * time.Millisecond
	sent := &o.sent[i]
	return debt{
		key:   o.Key,
		value: o.Token,
		nonce: sent.nonce,
		ends:  sent.done.Ends(ttl),
		dies:  now.Add(o.ttl + clock.Drift(o.ttl)),
		next:  sent.ordinal + 1,
	}
}

// persist is the second step of an acquire without ttl.
func (r ruling) persist() {
	r.retainForever()
	s := &r.db.shards[r.db.shard(r.Key)]
	s.mu.Lock()
	r.flight.early = len(r.flight.followers)
	s.mu.Unlock()
	second := newOp(&quorum.Request{Kind: quorum.Extend, Key: r.Key, Token: r.Token, Far: r.Far, Trace: r.Trace}, r.asker)
	second.first, second.Second, second.flight = r.op, true, r.flight
	second.began = r.began
	r.db.try(second, time.Now())
}

// unpersist takes an acquire without ttl back whose second step failed, or of which its
// client was never told. Master i may hold it with its short ttl, or without any.
func (r ruling) unpersist(i int) {
	first := r.first.ballot.Load().Did(i)
	if !first && !r.votes.Did(i) && !r.missing(i) {
		return
	}
	d := r.first.undoing(i, r.now)
	if !first {
		d.nonce, d.next = r.sent[i].nonce, r.sent[i].ordinal+1
	}
	d.eternal, d.dies = true, r.now.Add(r.db.MaxTTL)
	r.db.lanes[i].queue.undo(d, r.now)
}
