package quorum

import "time"

// A count that the masters have come to differ in is put right by the next one who
// counts. Every number that was ever answered is on a quorum, or a further one is; so the
// furthest that any quorum of masters counts to is further than all of them. The others
// are brought up to it, and it is answered once a quorum has it: no number is answered
// twice, though one may be left out.

// NewCountUp makes a step that counts a string up and answers the number.
func NewCountUp(text string) *Script {
	s := NewStep(text)
	s.further = func(a, b int64) bool { return a > b }
	return s
}

// NewCountDown makes a step that counts a string down and answers the number.
func NewCountDown(text string) *Script {
	s := NewStep(text)
	s.further = func(a, b int64) bool { return a < b }
	return s
}

// furthest is the master that counted furthest, where a quorum of them counted; else
// it is negative.
func (o *op) furthest(c counted) int {
	found, n := -1, 0
	for i := range o.said {
		if o.Script.further == nil || c.vote(i) != Granted {
			continue
		}
		j := o.said[i].journal
		if j.reply.Kind != IntegerReply || j.record(o.Key) == nil {
			return -1
		}
		if n++; found < 0 || o.Script.further(j.reply.Int, o.said[found].journal.reply.Int) {
			found = i
		}
	}
	if n < quorumOf(len(o.said)) {
		return -1
	}
	return found
}

// level brings all who counted up to the one that counted furthest.
func (e *Engine) level(o *op, c counted, furthest int, now time.Time) (answered bool) {
	model := o.said[furthest].journal
	w := &awaited{op: o, until: now.Add(e.AcquireTimeout)}
	w.then = func(done bool) bool {
		r := o.result(c)
		r.Decision, r.Script = Split, nil
		if done {
			r.Decision, r.Script = Won, &model.reply
		}
		e.inFlight.Add(-1)
		e.finish(o, r)
		return true
	}
	made := *model.record(o.Key)
	made.before, made.left = made.after, made.expires
	list := []laneEnding{{&ending{op: o, key: o.Key, ends: letGo}, furthest}}
	for i := range e.lanes {
		if i != furthest && c.vote(i) == Granted {
			left := fingerprint(o.said[i].journal.record(o.Key).after)
			list = append(list, laneEnding{&ending{
				op: o, key: o.Key, ends: bringUp, left: left, made: &made, at: now, awaited: w,
			}, i})
		}
	}
	others := quorumOf(len(e.lanes)) - 1
	w.missing.Store(int32(others))
	w.spare.Store(int32(len(list) - 1 - others))
	e.awaiting.add(w)
	return e.endAll(list)
}
