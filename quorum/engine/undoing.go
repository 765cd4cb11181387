package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// undo has the master take back what d names: at the head of the next batch,
// or when the master is back.
func (q *queue) undo(d debt, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.undoLocked(d, now)
}

// mayTakeBack tells that what a debt is about is still what it was, as far as is known by what
// was sent since. That is asked when the debt leaves, and nothing about its key is on its way. A
// lock that was taken may be freed by then, and another one, of the same token, be in its place,
// and end with it:
//
//	1: a batch is late; SETNX k 1 waits for it, and so does SET k 1
//	2: both are sent in one batch: for the first that is too late, and the other is answered
//	   with OK
//
// Nor is it taken back where a script has met it that did nothing: that may have told who is
// asking, under the same token, that he holds it. It has not where it was the same script, and said
// what all said who declined the lost one, nor where it would have let go of the lock, if a quorum
// has not done what was lost. Else, of those who wait for a lock, each next one is refused behind the
// last, and what that had taken on one master would keep it from all of them.
//
//	1: A, B, C and D, two at each proxy, say by a script that they take k; two masters know A
//	2: B is refused by them; C's script comes to the third in one batch with B's, and declines
//	3: if B's were not taken back for C's sake, and so D's on another, k would be nobody's
//
// mu is held.
func (q *queue) mayTakeBack(d *debt) bool {
	p := d.next
	if p == 0 {
		return true
	}
	if d.next = 0; q.isGone(d, p-1) {
		q.cannotUndo(*d)
		return false
	}
	return true
}

// isGone tells that what a debt is about may have been freed, or been replaced, by what was
// sent after a place. mu is held.
func (q *queue) isGone(d *debt, p ordinal) bool {
	key := q.db.place(d.key)
	if d.back != nil {
		return q.sentSo.goneSince(key, p, d.lost)
	}
	return q.sentSo.lockGoneSince(key, q.db.lockHash(d.key, d.value), p, d.lost)
}

// minor tells of a lost op that a quorum of the masters has not carried it out, and will not.
func (r ruling) minor() bool {
	without := len(r.db.lanes)
	for i := range r.db.lanes {
		v := r.votes.Vote(i)
		if r.votes.Did(i) || v == 0 || v == quorum.Unknown && !r.sent[i].unsent {
			without--
		}
	}
	return without >= quorum.QuorumOf(len(r.db.lanes))
}

// undoBehind is undo of what was sent at a place, unless what could have freed its key
// was sent since.
func (q *queue) undoBehind(d debt, key place, p ordinal, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sentSo.freedSince(key, p) {
		q.cannotUndo(d)
		return
	}
	q.undoLocked(d, now)
}

func (q *queue) undoLocked(d debt, now time.Time) {
	switch {
	case d.nonce == "" && !q.db.alone(), !d.tellable():
		q.cannotUndo(d)
	case !q.open:
		q.oweLocked(d, now)
	case !q.addErrand(&d):
		q.cannotUndo(d)
	}
}

// addErrand puts an errand at the end of those that go first. It is false if there is no room
// for it. mu is held.
func (q *queue) addErrand(e errand) bool {
	if len(q.errands) >= maxErrands || !q.master.Rooms.Errands.Take(e.room()) {
		q.crowded()
		return false
	}
	q.errands = append(q.errands, e)
	q.rouse()
	return true
}

// removed gives back the room of an errand that was taken out of the line. mu is held.
func (q *queue) removed(e errand) { q.master.Rooms.Errands.Add(-e.room()) }

// crowded tells once in a while that there is no room for an errand. mu is held.
func (q *queue) crowded() {
	if now := time.Now(); now.Sub(q.toldOfCrowd) >= time.Minute {
		q.toldOfCrowd = now
		q.logs().Warn("too much waits to be taken back from the master: what is left there keeps others out until its ttl ends",
			"errands", len(q.errands), "bytes", q.master.Rooms.Errands.Used.Load())
	}
}

// undoLater has what could not be taken back, since it ends at another time than it
// should, be tried once more when what has moved its expiry may have been put back:
//
//	1: master 3 grants k to B, who is refused by 1 and 2, where A holds it
//	2: A says EXPIRE k to another proxy: it is carried out on 1, 2 and 3
//	3: B's is to be taken back from 3; then A's proxy makes of it what it was
func (q *queue) undoLater(d debt) {
	if d.again || d.eternal {
		q.undone(d, 0)
		return
	}
	d.again = true
	q.undoAgain(d)
}

// undoAgain has what the master has refused to take back, for lack of memory or the like, be
// tried once more in a while, until there is nothing left to be taken back.
func (q *queue) undoAgain(d debt) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.later) >= maxErrands || !q.master.Rooms.Errands.Take(d.size()) {
		q.crowded()
		q.cannotUndo(d)
		return
	}
	q.later = append(q.later, laterDebt{d, time.Now().Add(2 * q.db.AcquireTimeout)})
}

// undone counts what was carried out to take something back, of n keys.
func (q *queue) undone(d debt, n int64) {
	switch {
	case n > 0:
		q.undos.Add(1)
		if d.owed {
			q.paid.Add(1)
		}
	case d.owed:
		q.needless.Add(1)
	}
}

// cannotUndo counts what can not be taken back any more.
func (q *queue) cannotUndo(d debt) {
	q.missed.Add(1)
	if d.owed {
		q.dropped.Add(1)
	}
}

// laterDebt is a debt that is to be paid at a time.
type laterDebt struct {
	debt
	at time.Time
}

// undoDue has the debts paid whose time has come. mu is held.
func (q *queue) undoDue(now time.Time) {
	for len(q.later) > 0 && !q.later[0].at.After(now) {
		d := q.later[0].debt
		q.later = q.later[1:]
		q.master.Rooms.Errands.Add(-d.size())
		if q.mayTry(d) {
			q.undoLocked(d, now)
		}
	}
}

// mayTry tells that the master can be told once more to take something back. mu is held.
func (q *queue) mayTry(d debt) bool {
	if q.hasCome(d) {
		q.cannotUndo(d)
		return false
	}
	return true
}

// hasCome tells that what a debt is about may be another lock by now, of the same token and
// with as long to live, as tokens are that are constants. When it was first tried it stood
// before all that could be. mu is held.
//
//	1: A releases k, "1", which master 1 has missed; it is owed
//	2: master 1 is back, and holds a k of "1" that ends soon: it is not taken
//	3: B is given k as "1"; what is tried once more would take that
func (q *queue) hasCome(d debt) bool {
	key, p := q.db.place(d.key), d.tried-1
	if d.back != nil {
		return q.isGone(&d, p)
	}
	return q.sentSo.anewSince(key, q.db.lockHash(d.key, d.value), p)
}

// apart is by how much a command may be carried out later by one master than by another,
// beyond how far they are: they are sent it by goroutines of their own.
const apart = 25 * time.Millisecond

// owe has the master release what it was asked to by o, and may not have been: at once
// if it is there again, or when it is back. Another one, if told is not negative, has told
// that the lock had so much left. Nothing is owed where the key was asked for since:
//
//	1: A releases k, "1"; master 1 is away, and 3 late
//	2: master 1 comes back, and grants k to B as "1", and so does 2; master 1 goes away
//	3: master 3 tells how long A's lock could have lived, which would be owed to 1
//	4: master 1 comes back: B's would be taken, which may end as soon as A's
func (q *queue) owe(d debt, o *op, told int, left time.Duration, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := &o.sent[q.index]
	if d.nonce = s.nonce; q.sentSo.takenSince(o.place, s.ordinal) {
		return
	}
	if told >= 0 {
		asked := o.sent[told].asked
		from, vague, known := q.masterTime(asked.From)
		to, _, _ := q.masterTime(asked.To)
		if known {
			d.ends = clock.Span{From: from + left, To: to + left}.Pad(vague + apart + 2*q.trips)
		}
	}
	if d.tellable() && (d.nonce != "" || q.db.alone()) {
		q.undoLocked(d, now)
	}
}

// oweLocked has a debt be paid when the master is back. What was on its way behind it will not
// be answered any more.
func (q *queue) oweLocked(d debt, now time.Time) {
	if !q.mayTakeBack(&d) {
		return
	}
	if !d.owed {
		q.owed.Add(1)
	}
	q.dropped.Add(uint64(q.debts.add(d, now)))
}

// heal gives the key of a won extension again to a master that had lost it, unless the
// key may have been freed there since.
func (q *queue) heal(o *op) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.sentSo.lockFreedSince(o.place, q.db.lockHash(o.Key, o.Token), o.sent[q.index].ordinal) {
		return
	}
	if q.open && q.addErrand(&healing{o, o.put}) {
		o.retainForever()
	}
}
