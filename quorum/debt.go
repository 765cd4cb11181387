package quorum

import (
	"container/list"
	"strconv"
	"strings"
	"time"
)

// A debt is a key that a master should no longer hold, and that it could not
// be told of. It names the value and how long the lock in question can live at
// most, so that paying it late never takes anybody else's lock.
type debt struct {
	key, value string
	nonce      nonce // under which the master did it; see sameNonce

	// until is when the last copy of the lock has run out, by our clock; the
	// debt dies with it. A copy that lives longer is somebody else's.
	until time.Time

	// eternal says that the lock may be without expiry, too. Such a debt dies at
	// another time, since a lock without expiry cannot be told from a later one
	// under the same token.
	eternal bool
	dies    time.Time

	// back, if not nil, is what the key was before a journaled script that was
	// lost, and since when that counts; value is then what the script made of it.
	back  *undoRecord
	since time.Time
}

// argv is the command that pays the debt at the time now.
func (d debt) argv(b []string, now time.Time) []string {
	most := max(d.until.Sub(now).Milliseconds(), 0)
	eternal := "0"
	if d.eternal {
		eternal = "1"
	}
	if d.back != nil {
		before, left := d.back.at(now.Sub(d.since))
		return append(putBackScript.takesBack(b, d.key), d.value, before, left, strconv.FormatInt(most, 10), eternal, d.back.db, string(d.nonce))
	}
	return append(takeBackScript.takesBack(b, d.key), d.value, strconv.FormatInt(most, 10), eternal, string(d.nonce))
}

// at is what the key was, after some time: a record whose time has run out is
// not restored.
func (r *undoRecord) at(elapsed time.Duration) (before, left string) {
	if r.left == saysNoTTL || r.before == "" {
		return r.before, "0"
	}
	n := r.left - elapsed.Milliseconds()
	if n <= 0 {
		return "", "0"
	}
	return r.before, strconv.FormatInt(n, 10)
}

func (d debt) over(now time.Time) bool {
	if d.eternal {
		return !d.dies.After(now)
	}
	return !d.until.After(now)
}

// size is about what a debt takes in memory, in bytes.
func (d debt) size() int {
	n := len(d.key) + len(d.value) + 200
	if d.back != nil {
		n += len(d.back.before)
	}
	return n
}

// The bounds of what is remembered for one absent master. A debt that is
// forgotten costs waiting until its lock expires, never a second holder.
const (
	maxDebts     = 20_000
	maxDebtBytes = 8 << 20
)

// debts are those of one master, oldest first, one for each lock. Of several
// locks of one key the oldest is the likeliest to be there: the later ones were
// never put to a master that was absent. The lane guards them.
type debts struct {
	byLock map[lockID]*list.Element
	order  list.List // of debt
	bytes  int
}

// lockID tells the locks of one key apart.
type lockID struct{ key, value string }

func (d debt) lock() lockID { return lockID{d.key, d.value} }

func (d *debts) len() int { return d.order.Len() }

// add remembers a debt and returns how many were forgotten for it.
func (d *debts) add(owed debt, now time.Time) (dropped int) {
	if owed.over(now) {
		return 1
	}
	// It may last longer than the command whose memory its strings would hold.
	owed.key, owed.value = strings.Clone(owed.key), strings.Clone(owed.value)
	if d.byLock == nil {
		d.byLock = make(map[lockID]*list.Element)
	}
	old := d.byLock[owed.lock()]
	if old != nil && old.Value.(debt).nonce != owed.nonce {
		d.remove(old) // it is void
		dropped, old = 1, nil
	}
	if old != nil {
		was := old.Value.(debt)
		owed.eternal = owed.eternal || was.eternal
		if was.dies.After(owed.dies) {
			owed.dies = was.dies
		}
		if was.back == nil {
			owed.back = nil // what is to go does not come back
		}
		d.bytes += owed.size() - was.size()
		if was.until.After(owed.until) {
			owed.until = was.until
		}
		old.Value = owed
		return 0
	}
	d.byLock[owed.lock()] = d.order.PushBack(owed)
	d.bytes += owed.size()
	for d.order.Len() > maxDebts || d.bytes > maxDebtBytes {
		d.remove(d.order.Back())
		dropped++
	}
	return dropped
}

func (d *debts) remove(e *list.Element) {
	owed := d.order.Remove(e).(debt)
	delete(d.byLock, owed.lock())
	d.bytes -= owed.size()
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
