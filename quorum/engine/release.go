package engine

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
)

// A release is a compare and delete, and a removal a delete that names no token. It is owed to
// a master of which it is not known whether it has carried it out.

var (
	releaseKind = kind{byToken: true, frees: true, alike: true}
	removeKind  = kind{frees: true, dated: true}
)

func (o *op) releaseArgv(b []string) []string {
	return append(releaseScript.Call(b, o.Key), o.Token)
}

func (o *op) removeArgv(b []string) []string { return removeScript.Call(b, o.Key) }

// released is what follows from a release, or a removal.
func (r ruling) released() {
	if r.votes.Decision() == quorum.Won {
		r.db.heldLocks.End(&r.Request)
	}
	for i := range r.db.lanes {
		r.oweRelease(i)
	}
}

// releasedLate is that where master i has voted late.
func (r ruling) releasedLate(i int) {
	if r.votes.Vote(i) != quorum.Granted {
		r.oweRelease(i)
		return
	}
	if r.votes.Tally(len(r.db.lanes)).Granted > 1 {
		return
	}
	for j := range r.db.lanes { // now it is known when the lock ends
		r.oweRelease(j)
	}
}

// oweRelease owes a release to master i if its vote is unknown. Without a master that
// has released the lock it is not known when it ends, and nothing can be owed. What that
// has told is carried over to master i's clock: nobody else has told when the lock ends
// there.
func (r ruling) oweRelease(i int) {
	if r.votes.Vote(i) != quorum.Unknown {
		return
	}
	d := debt{key: r.Key, value: r.Token}
	if r.Kind == quorum.Remove {
		s, _ := r.Held(r.votes)
		if !s.Named {
			return
		}
		d.value = s.Value
	}
	told, longest := -1, int64(0)
	for j := range r.Said {
		if r.votes.Vote(j) != quorum.Granted {
			continue // and may be writing what it has said
		}
		switch left := r.Said[j].Left; {
		case left == decide.SaysNoTTL:
			d.eternal = true
		case told < 0 || left > longest:
			told, longest = j, left
		}
	}
	left := clock.OfMilliseconds(longest)
	if told >= 0 {
		d.dies = r.now.Add(left + clock.Drift(left) + r.db.MasterTimeout)
	}
	if d.eternal {
		d.dies = r.now.Add(r.db.MaxTTL)
	}
	if told >= 0 || d.eternal {
		r.db.lanes[i].queue.owe(d, r.op, told, left, r.now)
	}
}
