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
// takes its like for nothing.

// maxOvertaken is how much of it is remembered: a batch full. What is forgotten costs waiting.
const maxOvertaken = 1024

// overtaken is what a master made of a key of which it held nothing.
type overtaken struct {
	done clock.Span // when the master has carried it out
	ends clock.Span // when it ends there
}

// leave remembers what d would have taken back, which was carried out at a time. mu is held.
func (q *queue) leave(d *debt, done clock.Span) {
	if d.eternal || !d.ends.Known() || d.back != nil && d.back.Before != "" {
		return
	}
	if q.overtaken == nil || len(q.overtaken) >= maxOvertaken {
		q.overtaken = make(map[uint64]overtaken)
	}
	q.overtaken[q.db.lockHash(d.key, d.value)] = overtaken{done, d.ends}
}

// replaced is what a record says that its key was, carried out at a time: nothing, where that
// is what was overtaken in the same batch.
func (q *queue) replaced(r *decide.UndoRecord, done clock.Span) *decide.UndoRecord {
	value, ok := dump.String(r.Before)
	if !ok || r.Left <= 0 {
		return r
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	was, ok := q.overtaken[q.db.lockHash(r.Key, value)]
	if left := clock.OfMilliseconds(r.Left); !ok || was.done != done || done.From+left > was.ends.To || done.To+left < was.ends.From {
		return r
	}
	nothing := *r
	nothing.Before, nothing.Left = "", decide.SaysAbsent
	return &nothing
}
