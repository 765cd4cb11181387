package engine

import "redlock-proxy/quorum"

// An extension is a compare and expire. A master that had no key any more is given it again.

var extendKind = kind{locks: true, givesTTL: true, alike: true}

func (o *op) extendArgv(b []string) []string {
	return append(extendScript.Call(b, o.Key), o.Token, o.px)
}

// extended is what follows from an extension.
func (r ruling) extended() {
	switch won := r.votes.Decision() == quorum.Won; {
	case won && r.first != nil:
		r.db.heldLocks.Begin(&r.Request, 0, r.first.put)
	case won:
		r.db.heldLocks.Note(r.Key, r.Token, r.ttl, r.put)
	case r.first == nil && r.votes.Decision() != quorum.Contended:
		r.db.heldLocks.Perhaps(&r.Request, r.ttl, r.put)
	}
	for i := range r.db.lanes {
		r.extendedOn(i)
	}
}

// extendedOn is that on master i, also where it has voted late.
func (r ruling) extendedOn(i int) {
	switch {
	case r.votes.Decision() == quorum.Won:
		r.heal(i)
	case r.first != nil:
		r.unpersist(i)
	}
}

// heal gives the key again to master i, which had lost it when the lock was
// extended.
func (r ruling) heal(i int) {
	if r.missing(i) {
		r.db.lanes[i].queue.heal(r.op)
	}
}

// missing tells that master i had no key to extend.
func (r ruling) missing(i int) bool {
	return r.votes.Vote(i) == quorum.Refused && r.Said[i].Absent
}
