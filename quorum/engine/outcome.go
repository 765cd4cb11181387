package engine

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/dump"
)

// decide is the decision that the votes in c amount to. It reads said of the
// masters that have voted, and nothing else that could change.
func (o *op) decide(c counted) quorum.Decision {
	t := c.tally(len(o.said))
	switch o.Kind {
	case quorum.Acquire:
		if o.TellsValue && t.blocked() {
			_, most := o.seen(c)
			return t.told(most)
		}
		d := t.acquire(func() bool { _, most := o.seen(c); return most >= t.quorum() })
		if d == quorum.Won && o.flight.void.Load() { // see spoil
			return quorum.Split
		}
		return d
	case quorum.Release:
		return t.release()
	case quorum.Remove:
		d := t.release()
		if d == quorum.Won && t.granted+t.refused < t.quorum() && !o.owable(c) {
			if t.pending > 0 {
				return quorum.Undecided
			}
			return quorum.Unavailable
		}
		return d
	case quorum.Extend:
		d := t.extend()
		if d == quorum.Won && o.first != nil && o.flight.void.Load() {
			return quorum.Contended
		}
		return d
	case quorum.Read:
		s, most := o.held(c)
		d := t.read(most)
		if d == quorum.Won && most < t.quorum() {
			return t.lacked(o.lack(c))
		}
		if d == quorum.Won && most >= t.quorum() && !o.ValueOnly {
			if l := o.lefts(c, s); l.open(t.quorum(), t.pending) {
				return quorum.Undecided
			}
		}
		return d
	case quorum.Run:
		acted := o.replies(c, quorum.Granted)
		declined := o.replies(c, quorum.Refused)
		d := t.script(len(acted), len(declined))
		if d == quorum.Split && o.releases(c, len(acted)) {
			return quorum.Won
		}
		if d == quorum.Contended && leftIsOpen(declined, t.quorum(), t.pending) {
			return quorum.Undecided
		}
		if d == quorum.Split && t.pending > 0 && o.leveller(c) >= 0 {
			return quorum.Undecided // a master that has not told its count is heard, see count.go
		}
		return d
	case quorum.Survey:
		return t.survey(o.asked())
	}
	_, alike := o.outcome(c)
	return t.write(alike)
}

// seen is what most masters named when they refused an acquire, and how many they are.
func (o *op) seen(c counted) (s said, most int) {
	for i := range o.said {
		if c.vote(i) != quorum.Refused || !o.said[i].named {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == quorum.Refused && o.said[j].named && o.said[j].holds(o.said[i]) {
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
		if c.vote(i) != quorum.Granted || o.said[i].absent {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == quorum.Granted && o.said[j].holds(o.said[i]) {
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
		if c.vote(i) == quorum.Granted && o.said[i].absent {
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
		if c.vote(i) != quorum.Granted {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == quorum.Granted && o.said[j].outcome(o.said[i]) {
				alike++
			}
		}
		if alike > most {
			s, most = o.said[i], alike
		}
	}
	return s, most
}

func (s said) outcome(t said) bool { return s.reply == t.reply && dump.SameValue(s.value, t.value) }

// result is what the asker is told.
func (o *op) result(c counted) quorum.Result {
	n := len(o.said)
	t := c.tally(n)
	r := quorum.Result{
		Decision: c.decision(),
		Voted:    t.granted + t.refused + t.pending,
		Needed:   quorum.QuorumOf(n),
		Masters:  n,
	}
	if r.Decision == quorum.Unavailable && c.timeUp() {
		r.Shortest = o.engine.tooShort(o.patience + o.waited())
	}
	switch o.Kind {
	case quorum.Acquire:
		if r.Decision == quorum.Contended {
			if s, most := o.seen(c); most >= r.Needed {
				r.Exists, r.Type, r.Value, r.Reply = true, s.typ, s.value, s.reply
			}
		}
	case quorum.Release, quorum.Extend:
		if r.Decision == quorum.Contended {
			o.refusals(c, &r)
		} else if r.Decision == quorum.Unavailable && o.first == nil && t.granted+t.refused >= t.quorum() {
			r.Decision = quorum.Split
		}
	case quorum.Read:
		s, most := o.held(c)
		if r.Decision == quorum.Split {
			if r.Decision = t.read(most); r.Decision == quorum.Split {
				r.Type = s.typ
			}
		} else if r.Decision == quorum.Won && most >= r.Needed {
			r.Exists, r.Type, r.Value, r.Reply = true, s.typ, s.value, s.reply
			r.TTL = o.remaining(c, s)
		}
	case quorum.Remove:
		if o.TTLArg > 0 && (r.Decision == quorum.Won || r.Decision == quorum.Contended) {
			r.Reply = quorum.Reply{Kind: quorum.IntegerReply}
			if r.Decision == quorum.Won {
				r.Reply.Int = 1
			}
			r.Decision = quorum.Won // of the expiry that it was asked as
		}
	case quorum.Write:
		if r.Decision == quorum.Won {
			s, _ := o.outcome(c)
			r.Reply = s.reply
		}
	case quorum.Run:
		o.scriptResult(c, &r)
	case quorum.Survey:
		r.Answers = o.answers(c)
	}
	return r
}

// refusals says why a compare failed: the key is gone, or holds another value,
// or is of another type.
func (o *op) refusals(c counted, r *quorum.Result) {
	absent, other := 0, 0
	for i := range o.said {
		switch {
		case c.vote(i) != quorum.Refused:
		case o.said[i].absent:
			absent++
		default:
			other++
			if o.said[i].reply.Kind == quorum.FailureReply {
				r.Reply = o.said[i].reply
			}
		}
	}
	r.Absent = absent > other
	if r.Absent {
		r.Reply = quorum.Reply{}
	}
}

// remaining is the ttl that a quorum still holds value s for.
func (o *op) remaining(c counted, s said) time.Duration {
	l := o.lefts(c, s)
	p := l.held(quorum.QuorumOf(len(o.said)))
	if p == saysNoTTL {
		return quorum.NoTTL
	}
	return clock.Unpad(clock.OfMilliseconds(p))
}
