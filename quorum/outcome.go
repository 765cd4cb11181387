package quorum

import (
	"redlock-proxy/quorum/clock"
	"time"
)

// decide is the decision that the votes in c amount to. It reads said of the
// masters that have voted, and nothing else that could change.
func (o *op) decide(c counted) Decision {
	t := c.tally(len(o.said))
	switch o.Kind {
	case Acquire:
		if o.TellsValue && t.blocked() {
			_, most := o.seen(c)
			return t.told(most)
		}
		d := t.acquire(func() bool { _, most := o.seen(c); return most >= t.quorum() })
		if d == Won && o.flight.void.Load() { // see spoil
			return Split
		}
		return d
	case Release:
		return t.release()
	case Remove:
		d := t.release()
		if d == Won && t.granted+t.refused < t.quorum() && !o.owable(c) {
			if t.pending > 0 {
				return undecided
			}
			return Unavailable
		}
		return d
	case Extend:
		d := t.extend()
		if d == Won && o.first != nil && o.flight.void.Load() {
			return Contended
		}
		return d
	case Read:
		s, most := o.held(c)
		d := t.read(most)
		if d == Won && most < t.quorum() {
			return t.lacked(o.lack(c))
		}
		if d == Won && most >= t.quorum() && !o.ValueOnly {
			if l := o.lefts(c, s); l.open(t.quorum(), t.pending) {
				return undecided
			}
		}
		return d
	case Run:
		acted := o.replies(c, Granted)
		declined := o.replies(c, Refused)
		d := t.script(len(acted), len(declined))
		if d == Split && o.releases(c, len(acted)) {
			return Won
		}
		if d == Contended && leftIsOpen(declined, t.quorum(), t.pending) {
			return undecided
		}
		if d == Split && t.pending > 0 && o.leveller(c) >= 0 {
			return undecided // a master that has not told its count is heard, see count.go
		}
		return d
	case Survey:
		return t.survey(o.asked())
	}
	_, alike := o.outcome(c)
	return t.write(alike)
}

// seen is what most masters named when they refused an acquire, and how many they are.
func (o *op) seen(c counted) (s said, most int) {
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
		if alike > most {
			s, most = o.said[i], alike
		}
	}
	return s, most
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

// owable tells that what was removed can be owed to the masters that have not answered: it
// is named by its value, which is told of strings alone.
func (o *op) owable(c counted) bool {
	s, _ := o.held(c)
	return s.named
}

// lack is how many masters have told a read that there is no such key.
func (o *op) lack(c counted) (n int) {
	for i := range o.said {
		if c.vote(i) == Granted && o.said[i].absent {
			n++
		}
	}
	return n
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

func (s said) outcome(t said) bool { return s.reply == t.reply && sameDumped(s.value, t.value) }

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
	if r.Decision == Unavailable && c.timeUp() {
		r.Shortest = o.engine.tooShort(o.patience + o.waited())
	}
	switch o.Kind {
	case Acquire:
		if r.Decision == Contended {
			if s, most := o.seen(c); most >= r.Needed {
				r.Exists, r.Type, r.Value, r.Reply = true, s.typ, s.value, s.reply
			}
		}
	case Release, Extend:
		if r.Decision == Contended {
			o.refusals(c, &r)
		} else if r.Decision == Unavailable && o.first == nil && t.granted+t.refused >= t.quorum() {
			r.Decision = Split
		}
	case Read:
		s, most := o.held(c)
		if r.Decision == Split {
			if r.Decision = t.read(most); r.Decision == Split {
				r.Type = s.typ
			}
		} else if r.Decision == Won && most >= r.Needed {
			r.Exists, r.Type, r.Value, r.Reply = true, s.typ, s.value, s.reply
			r.TTL = o.remaining(c, s)
		}
	case Remove:
		if o.TTLArg > 0 && (r.Decision == Won || r.Decision == Contended) {
			r.Reply = Reply{Kind: IntegerReply}
			if r.Decision == Won {
				r.Reply.Int = 1
			}
			r.Decision = Won // of the expiry that it was asked as
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

// remaining is the ttl that a quorum still holds value s for.
func (o *op) remaining(c counted, s said) time.Duration {
	l := o.lefts(c, s)
	p := l.held(quorumOf(len(o.said)))
	if p == saysNoTTL {
		return NoTTL
	}
	return clock.Unpad(clock.OfMilliseconds(p))
}
