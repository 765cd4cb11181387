package engine

import (
	"container/list"
	"hash/maphash"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// A debt is a key that a master should no longer hold, and that it could not
// be told of. It names the value and when the lock in question ends, from both sides,
// so that paying it late never takes anybody else's lock.
type debt struct {
	key, value string
	nonce      marker.Nonce // under which the master did it; see sameNonce

	// ends is when the lock ends by the master's clock. What ends at another time is
	// somebody else's. It is not known of one that is without expiry.
	ends clock.Span

	// dies is when the lock has run out, by our clock, and the debt with it. One about
	// a lock without expiry dies all the same, since that cannot be told from a later one
	// under the same token.
	dies time.Time

	// back, if not nil, is what the key was before a journaled script that was
	// lost, or should be, and since when that counts: when the master had carried the
	// script out at the latest. value is then what the script made of it.
	back  *decide.UndoRecord
	since time.Time

	// backEnded is when back ended, by the master's clock; 0 if it did not, or is not known.
	backEnded time.Duration

	// next is the number of what was sent next when the master had done it. It is 0 where it does
	// not matter what was sent since: see mayTakeBack.
	next ordinal

	// lost is what is known of what has done it.
	lost lost

	// tried is the number of what was sent next when it was first tried; 0 if it was not.
	tried ordinal

	eternal bool // the lock may be without expiry, too
	again   bool // this is the second time: see undoLater
	owed    bool // it is counted as a debt: it waited for the master once
}

func (d *debt) about() []string   { return []string{d.key} }
func (d *debt) remains() []string { return d.about() }
func (d *debt) owes() *debt       { return d }
func (d *debt) room() int         { return errandRoom + d.size() }

// argv is the command that pays the debt at the time now.
func (d *debt) argv(b []string, now time.Time) []string {
	if d.over(now) {
		return nil
	}
	if d.back != nil {
		return d.putBack(append(takingBack(b, putBackScript, d.key), d.value), now)
	}
	least, most, eternal := d.between()
	return append(takingBack(b, takeBackScript, d.key), d.value, least, most, eternal, string(d.nonce))
}

// between is between what times of the master's clock the key ends, and whether it may not.
func (d debt) between() (least, most, eternal string) {
	eternal = "0"
	if d.eternal {
		eternal = "1"
	}
	return strconv.FormatInt(d.ends.From.Milliseconds(), 10), strconv.FormatInt(d.ends.To.Milliseconds(), 10), eternal
}

// putBack says what the key is to become, and where.
func (d debt) putBack(b []string, now time.Time) []string {
	before, left := d.back.Before, "0"
	moved, ended := d.back.Moved(), ""
	switch {
	case moved != "":
	case d.backEnded != 0:
		ended = strconv.FormatInt(d.backEnded.Milliseconds(), 10)
	default:
		before, left = d.back.At(now.Sub(d.since))
	}
	least, most, eternal := d.between()
	return append(b, before, left, least, most, eternal, string(d.nonce), moved, ended)
}

func (d *debt) carriedOut(s *sender, a decide.Answer) {
	switch {
	case a.Failed("NOSCRIPT"):
		// It was not carried out, and what came after it on the same key was.
		s.queue.cannotUndo(*d)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOtherNonce:
		s.queue.cannotUndo(*d)
	case a.Kind == quorum.IntegerReply && a.Int == decide.SaysOther:
		s.queue.undoLater(*d)
	case a.RefusesToWrite():
		s.mu.Lock()
		if s.queue.mayTry(*d) {
			s.queue.oweLocked(*d, time.Now())
		}
		s.mu.Unlock()
	case a.Kind == quorum.FailureReply && !a.WrongType():
		s.queue.undoAgain(*d)
	default:
		s.queue.undone(*d, a.Int)
	}
}

// tellable tells that what the debt is about can be told from what is somebody else's.
func (d debt) tellable() bool { return d.ends.Known() || d.eternal }

// undoable tells that what the op has done may have to be taken back. When its master did so
// is to be known sharply, also where that had hung before: a batch with such an op begins with
// a look at the master's clock. What the batch before has shown of it does only while none hangs:
//
//	1: a batch is answered, and masters 1, 2 and 3 hang; A asks for k
//	2: A is told NOQUORUM; then they go on, and grant k to A
//	3: each may have done so at any time since the batch before, which tells the grant from no
//	   extension: it is not taken back, and nobody gets k until its ttl is over
func (o *op) undoable() bool {
	return o.kind().undoable
}

func (d debt) over(now time.Time) bool { return !d.dies.After(now) }

// size is about what a debt takes in memory, in bytes.
func (d debt) size() int {
	n := len(d.key) + len(d.value) + 300
	if d.back != nil {
		n += len(d.back.Before) + len(d.back.After) + len(d.back.Trail) + 200
	}
	return n
}

// The bounds of what is remembered for one absent master. A debt that is
// forgotten costs waiting until its lock expires, never a second holder.
const maxDebts = 20_000

// debts are those of one master, oldest first, one for each lock. Of several
// locks of one key the oldest is the likeliest to be there: the later ones were
// never put to a master that was absent. The lane guards them.
type debts struct {
	order list.List           // of debt
	known map[uint64]struct{} // hashes of their locks: of two with one hash the later is forgotten
	bytes int
	room  *master.Room // where it is the master's, in all databases
}

// lockID tells the locks of one key apart.
type lockID struct {
	key, value string
	nonce      marker.Nonce
	ends       clock.Span
	eternal    bool
	back       bool
}

var lockSeed = maphash.MakeSeed()

func (d debt) lock() uint64 {
	return maphash.Comparable(lockSeed, lockID{d.key, d.value, d.nonce, d.ends, d.eternal, d.back != nil})
}

func (d *debts) len() int { return d.order.Len() }

// add remembers a debt and returns how many were forgotten for it, be it because there is
// one like it already.
func (d *debts) add(owed debt, now time.Time) (dropped int) {
	if owed.over(now) {
		return 1
	}
	owed.owed = true
	// It may last longer than the command whose memory its strings would hold.
	owed.key, owed.value = strings.Clone(owed.key), strings.Clone(owed.value)
	if d.known == nil {
		d.known = make(map[uint64]struct{})
	}
	lock := owed.lock()
	if _, ok := d.known[lock]; ok {
		return 1
	}
	d.known[lock] = struct{}{}
	d.order.PushBack(owed)
	d.bytes += owed.size()
	if d.room != nil {
		d.room.Add(owed.size())
	}
	for d.order.Len() > maxDebts || d.bytes > master.MaxDebtBytes || d.room != nil && d.room.Overdrawn() {
		if d.order.Len() == 0 {
			break
		}
		d.remove(d.order.Back())
		dropped++
	}
	return dropped
}

func (d *debts) remove(e *list.Element) {
	owed := d.order.Remove(e).(debt)
	if delete(d.known, owed.lock()); len(d.known) == 0 {
		d.known = nil // it would stay as large as it was
	}
	d.bytes -= owed.size()
	if d.room != nil {
		d.room.Add(-owed.size())
	}
}

// take removes up to n debts that are still worth paying, and returns them with
// how many were not.
func (d *debts) take(n int, now time.Time) (due []debt, dropped int) {
	for e := d.order.Front(); e != nil && len(due) < n; e = d.order.Front() {
		owed := e.Value.(debt)
		d.remove(e)
		if owed.over(now) {
			dropped++
			continue
		}
		due = append(due, owed)
	}
	return due, dropped
}

// expire forgets the debts whose locks have run out.
func (d *debts) expire(now time.Time) (dropped int) {
	for e := d.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(debt).over(now) {
			d.remove(e)
			dropped++
		}
		e = next
	}
	return dropped
}
