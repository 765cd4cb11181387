package engine

import (
	"strconv"
	"strings"
	"sync/atomic"

	"redlock-proxy/quorum"
)

// What masters make this process hold is bounded in bytes: what they answer, whatever that
// is, what they are still to be asked, and what they are still to be told. Each master has
// room of its own, which all databases share, so that one that lies takes nothing from the
// others; and where there is none the vote is unknown, as if it had not answered.

// DefaultMemory is what is meant by a Config.Memory of 0.
const DefaultMemory = 512 << 20

// rooms are those of one master.
type rooms struct {
	replies room // what it answers, from the first byte until it is judged
	copies  room // what it answers to catch-ups: clients leave that alone
	queue   room // commands that wait for it
	errands room // what it is to be told besides
	debts   room // and when it is back
}

// The bounds where there is memory for them.
const (
	// maxQueueBytes is what the ops that wait come to before one that is not small is
	// turned away.
	maxQueueBytes = 64 << 20
	// maxErrandBytes is what undos, heals and the ends of steps come to before one more
	// is left out.
	maxErrandBytes = 32 << 20
	// leastRoom is what there is for each in any case: a batch, and one that is on its way
	// beside it.
	leastRoom = 4 << 20
)

// newRooms are those of one of n masters that may take so much memory together: a quarter
// is for replies, and less for the others.
func newRooms(memory, n int) *rooms {
	if memory <= 0 {
		memory = DefaultMemory
	}
	r := new(rooms)
	r.replies.most = int64(max(memory/4/n, leastRoom))
	r.copies.most = int64(max(memory/8/n, 2*leastRoom))
	r.queue.most = int64(max(min(memory/2/(n+1), maxQueueBytes), leastRoom))
	r.errands.most = int64(max(min(memory/4/(n+1), maxErrandBytes), leastRoom))
	r.debts.most = int64(max(min(memory/8/n, maxDebtBytes), leastRoom/4))
	return r
}

// used is how many bytes are taken.
func (r *rooms) used() int {
	return int(r.replies.used.Load() + r.copies.used.Load() + r.queue.used.Load() + r.errands.used.Load() + r.debts.used.Load())
}

// room is a number of bytes that may be taken.
type room struct {
	most int64
	used atomic.Int64
}

// take takes n bytes, if there are so many.
func (r *room) take(n int) bool {
	if r.used.Add(int64(n)) > r.most {
		r.used.Add(-int64(n))
		return false
	}
	return true
}

// add takes n bytes, or gives them back, in any case.
func (r *room) add(n int) { r.used.Add(int64(n)) }

// full tells that there is no room for more, and overdrawn that there is not as much as is
// taken.
func (r *room) full() bool      { return r.used.Load() >= r.most }
func (r *room) overdrawn() bool { return r.used.Load() > r.most }

// Memory is how many bytes are taken for what masters have answered, what they are asked and
// what they are owed.
func (e *Engine) Memory() (n int) {
	for _, m := range e.Masters {
		n += m.rooms.used()
	}
	return n
}

// elemSize is about what an element of an array takes beside its text.
const elemSize = 128

// cost is what an answer takes of the room for replies, as guard counts it. What is small
// takes nothing.
func (a *answer) cost() int {
	if n := a.size(); n >= small {
		return n
	}
	return 0
}

func (a *answer) size() int {
	n := len(a.str) + elemSize*len(a.elems)
	for i := range a.elems {
		n += a.elems[i].size()
	}
	return n
}

// tooLong is what guard puts in the place of a string that there is no room for; its length
// in bytes follows. A master that says so itself is believed: it has not answered.
const (
	tooLong    = "TOOLONG "
	tooLongEnd = " bytes are more than there is room for"
)

func saysTooLong(n int) string { return tooLong + strconv.Itoa(n) + tooLongEnd }

// leftOut is how long a string is that was left out of the answer, 0 if there is none.
func (a *answer) leftOut() int {
	if text, ok := strings.CutPrefix(a.str, tooLong); ok && a.kind == quorum.FailureReply {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, tooLongEnd)); err == nil {
			return max(n, 1)
		}
	}
	for i := range a.elems {
		if n := a.elems[i].leftOut(); n > 0 {
			return n
		}
	}
	return 0
}
