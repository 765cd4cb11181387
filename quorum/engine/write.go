package engine

import (
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// A write names no token: it acts on whatever is there, and what was carried out by no quorum is
// put back.

var writeKind = kind{givesTTL: true, undoable: true, dated: true}

// seven is of argv.
func (o *op) writeArgv(b []string, seven bool) []string {
	s := writeScript
	if o.expiresIf(seven) {
		s = expireIfScript
	}
	return append(s.Call(b, o.Key), o.Args...)
}

// expiresIf tells that a Write needs expireIfScript. seven is of argv.
func (o *op) expiresIf(seven bool) bool {
	return !seven && len(o.Args) > 3 && strings.HasPrefix(o.Args[0], "PEXPIRE")
}

// written is what follows from a write.
func (r ruling) written() {
	switch {
	case !r.db.heldLocks.On():
	case r.votes.Decision() != quorum.Won:
		r.db.heldLocks.Perhaps(&r.Request, r.ttl, r.put)
	default:
		if s, _ := r.Outcome(r.votes); decide.HasActed(&r.Request, s.Reply) {
			r.db.heldLocks.Wrote(&r.Request, r.ttl, r.put)
		}
	}
	for i := range r.db.lanes {
		r.putBackWrite(i)
	}
}

// putBackWrite undoes a plain write on master i if it was carried out there and
// by no quorum. A master that only held something else before is set right by it,
// unless it was that whose life has changed, or it was late (see bound.go).
func (r ruling) putBackWrite(i int) {
	if r.votes.Did(i) && r.votes.Decision() == quorum.Won {
		if s, _ := r.Outcome(r.votes); decide.HasActed(&r.Request, s.Reply) && dump.SameValue(s.Value, r.Said[i].Value) && !r.intrudes(i) {
			return
		}
	}
	r.putBack(i)
}

// putBack undoes what a lost journaled script, or write, made of its keys on
// master i.
func (r ruling) putBack(i int) {
	if !r.votes.Did(i) || r.Said[i].Journal == nil {
		return // a removal, for one, is never put back
	}
	records := r.Said[i].Journal.Undo
	for j := range records {
		record := &records[j]
		if r.isFirstStep(record) {
			continue
		}
		d := r.puttingBack(i, record, record, r.now)
		d.dies = r.now.Add(record.Lives() + clock.Drift(record.Lives()))
		if d.eternal {
			d.dies = r.now.Add(r.db.MaxTTL)
		}
		if (r.votes.Decision() != quorum.Won || !r.strange(record)) && !record.Lengthens() {
			// Else it is told from all others by its value and end; and that it lives longer
			// costs nobody a lock.
			d.next, d.lost = r.sent[i].ordinal+1, r.lostOn(i)
		}
		r.db.lanes[i].queue.undo(d, r.now)
	}
}

// isFirstStep tells of a lost command that took a ttl away: it was as short as a lock has that is
// taken without one, before its second step, which another master has seen. It may have come to
// this one behind that command, and has left what that did:
//
//	1: A takes k without a ttl; B and C say PERSIST to it, each at another proxy
//	2: master 1 hears B before A's second step, and master 2 hears C; both tell them 1, and all
//	   others 0
//	3: were B's and C's put back, k would end on both, and A hold it nowhere but on master 3
func (r ruling) isFirstStep(record *decide.UndoRecord) bool {
	most := r.db.firstTTL()
	if r.Kind != quorum.Write || !record.LivesOn() || record.Expires != decide.SaysNoTTL || record.Left < 0 ||
		clock.OfMilliseconds(record.Left) > most+clock.Drift(most) {
		return false
	}
	for i := range r.Said {
		if r.votes.Vote(i) == quorum.Granted && !r.votes.Did(i) && r.Said[i].Left == decide.SaysNoTTL {
			return true
		}
	}
	return false
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
		d.backEnded = sent.done.To + left
	}
	return d
}
