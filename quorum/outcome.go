package quorum

import (
	"slices"
	"time"
)

// decide is the decision that the votes in c amount to. It reads said of the
// masters that have voted, and nothing else that could change.
func (o *op) decide(c counted) Decision {
	t := c.tally(len(o.said))
	switch o.Kind {
	case Acquire:
		d := t.acquire(func() bool { _, ok := o.seen(c); return ok })
		if d == Won && o.flight.void.Load() { // see spoil
			return Split
		}
		return d
	case Release, Remove:
		return t.release()
	case Extend:
		d := t.extend()
		if d == Won && o.first != nil && o.flight.void.Load() {
			return Contended
		}
		return d
	case Read:
		_, most := o.held(c)
		return t.read(most)
	case Run:
		acted := o.replies(c, Granted)
		declined := o.replies(c, Refused)
		return t.script(len(acted), len(declined))
	case Survey:
		return t.survey(o.asked())
	}
	_, alike := o.outcome(c)
	return t.write(alike)
}

// seen is what a quorum named when it refused an acquire.
func (o *op) seen(c counted) (s said, ok bool) {
	for i := range o.said {
		if c.vote(i) != Refused || !o.said[i].named {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == Refused && o.said[j].named && o.said[j].holds(o.said[i]) {
				alike++
			}
		}
		if alike >= quorumOf(len(o.said)) {
			return o.said[i], true
		}
	}
	return s, false
}

// held is the value (or, for what is no string, the type) that most masters
// hold, and how many they are.
func (o *op) held(c counted) (s said, most int) {
	for i := range o.said {
		if c.vote(i) != Granted || o.said[i].absent {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == Granted && o.said[j].holds(o.said[i]) {
				alike++
			}
		}
		if alike > most {
			s, most = o.said[i], alike
		}
	}
	return s, most
}

func (s said) holds(t said) bool {
	return !s.absent && s.typ == t.typ && s.value == t.value
}

// outcome is what most masters said of a Write, and how many they are. Where it has
// changed the life of a value, that is part of it:
//
//	1: A holds k on masters 1 and 2; on 3 is what another's lost SET has left
//	2: master 2 hangs; A sends EXPIRE k: 1 and 3 say yes
func (o *op) outcome(c counted) (s said, most int) {
	for i := range o.said {
		if c.vote(i) != Granted {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == Granted && o.said[j].outcome(o.said[i]) {
				alike++
			}
		}
		if alike > most {
			s, most = o.said[i], alike
		}
	}
	return s, most
}

func (s said) outcome(t said) bool { return s.reply == t.reply && s.value == t.value }

// result is what the asker is told.
func (o *op) result(c counted) Result {
	n := len(o.said)
	t := c.tally(n)
	r := Result{
		Decision: c.decision(),
		Voted:    t.granted + t.refused + t.pending,
		Needed:   quorumOf(n),
		Masters:  n,
	}
	switch o.Kind {
	case Acquire:
		if r.Decision == Contended {
			var s said
			s, r.Exists = o.seen(c)
			r.Type, r.Value, r.Reply = s.typ, s.value, s.reply
		}
	case Release, Extend:
		if r.Decision == Contended {
			o.refusals(c, &r)
		}
	case Read:
		if s, most := o.held(c); r.Decision == Won && most >= r.Needed {
			r.Exists, r.Type, r.Value, r.Reply = true, s.typ, s.value, s.reply
			r.TTL = o.remaining(c, s)
		}
	case Write:
		if r.Decision == Won {
			s, _ := o.outcome(c)
			r.Reply = s.reply
		}
	case Run:
		o.scriptResult(c, &r)
	case Survey:
		r.Answers = o.answers(c)
	}
	return r
}

// refusals says why a compare failed: the key is gone, or holds another value,
// or is of another type.
func (o *op) refusals(c counted, r *Result) {
	absent, other := 0, 0
	for i := range o.said {
		switch {
		case c.vote(i) != Refused:
		case o.said[i].absent:
			absent++
		default:
			other++
			if o.said[i].reply.Kind == FailureReply {
				r.Reply = o.said[i].reply
			}
		}
	}
	r.Absent = absent > other
	if r.Absent {
		r.Reply = Reply{}
	}
}

// remaining is the ttl that a quorum still holds value s for: the quorum-th
// largest among those that hold it.
func (o *op) remaining(c counted, s said) time.Duration {
	var left []int64
	for i := range o.said {
		if c.vote(i) == Granted && o.said[i].holds(s) {
			left = append(left, o.said[i].left)
		}
	}
	// No expiry outlasts every other one.
	slices.SortFunc(left, func(a, b int64) int {
		switch {
		case a == b:
			return 0
		case a == saysNoTTL || (b != saysNoTTL && a > b):
			return -1
		}
		return 1
	})
	p := left[quorumOf(len(o.said))-1]
	if p == saysNoTTL {
		return NoTTL
	}
	return unpad(time.Duration(p) * time.Millisecond)
}
