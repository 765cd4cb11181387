package engine

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// What a script has made of a key tells more than its reply. Of a lock that is a hash, as
// Redisson's, the value says how often its holder has taken it, and a master that was away
// may have missed one of these:
//
//	1: A takes k on masters 1 and 2; 3 is away
//	2: 3 is back, and 2 away; A takes k once more: 1 holds it twice now, and 3 once
//	3: 2 is back; A lets go of it once: 2 and 3 have nothing left, and say so
//	4: B takes k on 2 and 3; A holds it still
//
// All of them had answered alike. So a quorum must also have made the same of each key.
// Then, whatever A was last told, a quorum holds k at least as often as A does: every
// quorum that makes the same of k shares a master with the one before.

// A master that has missed something is given what a quorum has made of the key, when it
// has held the same for so long that it is nothing newer (see laggards.go): else two masters
// that have missed different things would leave none of three with one to agree with. It
// must have voted before the decision: what it holds when it is late may be the lock of
// whoever came next.

// bringUp gives master i what a quorum has made of a script's keys, where that has acted as
// well and has fallen behind.
func (r ruling) bringUp(i int) {
	if r.votes.Vote(i) != quorum.Granted {
		return
	}
	for _, ours := range r.Said[i].Journal.Undo {
		theirs := r.Made(r.votes, ours.Key)
		if theirs == nil || dump.Same(ours.After, theirs.After) || !ours.Differs(theirs) || !dump.Is(theirs.After) ||
			!r.db.laggards.still(ours.Key, i, &ours, r.now, 2*r.db.AcquireTimeout) {
			continue
		}
		d := r.bringing(i, &ours, theirs)
		d.dies = r.now.Add(r.db.MasterTimeout)
		r.db.lanes[i].queue.undoBehind(d, r.db.place(ours.Key), r.sent[i].ordinal, r.now)
	}
}

// give gives master i, which has declined, the keys that a quorum had and has now: it may have
// been away when a lock was taken, and would have no part in it for as long as that is
// renewed. Where it holds anything it is left alone.
func (r ruling) give(i int) {
	if r.votes.Vote(i) != quorum.Refused || r.Said[i].Journal.Busy {
		return
	}
	for _, key := range r.allTouched() {
		theirs := r.Made(r.votes, key)
		if theirs == nil || theirs.Before == "" || !dump.Is(theirs.After) {
			continue
		}
		r.retainForever()
		back := r.bringing(i, &decide.UndoRecord{Key: key, Left: decide.SaysAbsent, Expires: decide.SaysAbsent}, theirs)
		if back.back.Left != decide.SaysNoTTL { // where it was let go of meanwhile by another proxy, it would stay for ever
			r.db.lanes[i].queue.give(&ending{op: r.op, key: key, ends: bringUp, back: back}, r.db.place(key), r.sent[i].ordinal)
		}
	}
}

// gives tells that the master is to be given a key where it has none.
func (n *ending) gives() bool { return n.ends == bringUp && n.back.value == "" }

// give is endStep of a key that the master is to be given, unless what could have freed it
// was sent since a place.
func (q *queue) give(n *ending, key place, p ordinal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.sentSo.freedSince(key, p) {
		q.endStepLocked(n)
	}
}

// bringing makes of a key on master i what others have made of it, where it is still ours.
func (r ruling) bringing(i int, ours, theirs *decide.UndoRecord) debt {
	back := &decide.UndoRecord{
		Key: ours.Key, Before: dump.Readable(theirs.After), Left: r.life(i, ours, afterwards),
		After: ours.After, Expires: ours.Expires, Trail: theirs.TrailWon(),
	}
	return r.puttingBack(i, ours, back, r.now)
}
