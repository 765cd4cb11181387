package engine

import (
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// What was lost is not taken back where something that may have replaced it was sent behind it.
// If that is lost as well, it is not put back to that, which nobody holds:
//
//	1: SET k a NX PX 9000 and SET k b are sent together; the masters do both, and answer too late
//	2: a is not taken back: b is there by now
//	3: b is put back, to a, and nobody gets k for nine seconds
//
// So a lane remembers what it has left to what came behind it, if nothing was there before, and
// takes it for nothing when the next that was sent about the key is put back. What was sent
// between the two may have been won, and have made the same of it.

// maxOvertaken is how much of it is remembered: a batch full. What is forgotten costs waiting.
const maxOvertaken = 1024

// overtaken is what a master made of a key of which it held nothing.
type overtaken struct {
	at   ordinal    // where it was sent
	ends clock.Span // when it ends there
}

// leave remembers what d would have taken back, of what was sent at a place. mu is held.
func (q *queue) leave(d *debt, p ordinal) {
	if d.eternal || !d.ends.Known() || d.back != nil && d.back.Before != "" {
		return
	}
	if q.overtaken == nil || len(q.overtaken) >= maxOvertaken {
		q.overtaken = make(map[uint64]overtaken)
	}
	q.overtaken[q.db.lockHash(d.key, d.value)] = overtaken{p, d.ends}
}

// leap has d put its key back to nothing, where that was before what it has overtaken. mu is held.
func (q *queue) leap(d *debt) {
	if d.back == nil || len(q.overtaken) == 0 || d.back.Left <= 0 {
		return
	}
	value, ok := dump.String(d.back.Before)
	if !ok {
		return
	}
	was, ok := q.overtaken[q.db.lockHash(d.key, value)]
	if left := clock.OfMilliseconds(d.back.Left); !ok || d.done.From+left > was.ends.To || d.done.To+left < was.ends.From {
		return
	}
	if q.sentSo.goneBetween(q.db.hash(d.key), was.at, d.behind-1) {
		return
	}
	nothing := *d.back
	nothing.Before, nothing.Left = "", decide.SaysAbsent
	d.back, d.ended = &nothing, 0
}
