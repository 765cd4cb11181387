package quorum

import (
	"slices"
	"strconv"
	"time"
)

// op is one attempt to carry out a Request: it is put to all lanes at once and
// gathers their votes. A split acquire is tried again as a new op.
type op struct {
	Request
	asker   Asker
	engine  *Engine
	attempt int // how often the same acquire was put before

	put      time.Time
	patience time.Duration // no decision counts that falls later than put + patience
	ttl      time.Duration // as the masters get it: padded; 0 is none
	px       string        // ttl in milliseconds, "" if none

	// first is the acquire without ttl that was won and is now, by this
	// Extend, to lose the short expiry it was set with.
	first *op

	ballot ballot

	// said[i] is written by lane i before it casts its vote, and read by
	// nobody before that vote is seen in the ballot.
	said []said
}

// argv appends the command as a master gets it. Masters before 7.0 cannot
// combine NX and GET.
func (o *op) argv(b []string, nxGet, sha bool) []string {
	switch o.Kind {
	case Acquire:
		b = append(b, "SET", o.Key, o.Token, "NX")
		if nxGet {
			b = append(b, "GET")
		}
		return append(b, "PX", o.px)
	case Release:
		return append(releaseScript.call(b, sha), o.Key, o.Token)
	case Extend:
		return append(extendScript.call(b, sha), o.Key, o.Token, o.px)
	case Read:
		if o.ValueOnly {
			return append(b, "GET", o.Key)
		}
		return append(readScript.call(b, sha), o.Key)
	case Remove:
		return append(removeScript.call(b, sha), o.Key)
	}
	return append(b, o.Args...)
}

// call begins a script's call: by hash, or by text for a master that has lost it.
func (s *script) call(b []string, sha bool) []string {
	if sha {
		return append(b, "EVALSHA", s.sha, "1")
	}
	return append(b, "EVAL", s.text, "1")
}

// pointless tells that an op which has not been sent to a master yet need not
// be any more: an acquire that is lost would only have to be undone, and what
// was answered with "I do not know" should not happen afterwards. Releases are
// always sent.
func (o *op) pointless() bool {
	d := o.ballot.load().decision()
	switch o.Kind {
	case Release, Remove:
		return false
	case Read:
		return d != undecided
	}
	return d != undecided && d != Won
}

// overdue tells that the decision would come too late to count.
func (o *op) overdue(now time.Time) bool { return now.Sub(o.put) > o.patience }

// vote casts lane i's vote and settles what follows from it. It tells whether
// the asker was answered, so that the caller flushes it when its batch is done.
func (o *op) vote(i int, v Vote, did bool, now time.Time) (answered bool) {
	if o.overdue(now) {
		answered = o.expire(now)
	}
	c, decisive := o.ballot.cast(i, v, did, o.decide)
	switch {
	case decisive:
		return o.engine.decided(o, c, now)
	case c.decision() != undecided:
		o.engine.late(o, c, i, now)
	}
	return answered
}

// expire ends the vote: masters that have not answered yet count as unknown.
func (o *op) expire(now time.Time) (answered bool) {
	if o.ballot.load().decision() != undecided {
		return false
	}
	c, decisive := o.ballot.close(o.decide)
	return decisive && o.engine.decided(o, c, now)
}

// decide is the decision that the votes in c amount to. It reads said of the
// masters that have voted, and nothing else that could change.
func (o *op) decide(c counted) Decision {
	t := c.tally(len(o.said))
	switch o.Kind {
	case Acquire:
		return t.acquire(func() bool { _, ok := o.seen(c); return ok })
	case Release, Remove:
		return t.release()
	case Extend:
		return t.extend()
	case Read:
		_, most := o.held(c)
		return t.read(most)
	}
	_, alike := o.reply(c)
	return t.write(alike)
}

// seen is the value that a quorum named when it refused an acquire.
func (o *op) seen(c counted) (value string, ok bool) {
	for i := range o.said {
		if c.vote(i) != Refused || !o.said[i].named {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == Refused && o.said[j].named && o.said[j].value == o.said[i].value {
				alike++
			}
		}
		if alike >= quorumOf(len(o.said)) {
			return o.said[i].value, true
		}
	}
	return "", false
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

// reply is what most masters answered to a Write, and how many they are.
func (o *op) reply(c counted) (r Reply, most int) {
	for i := range o.said {
		if c.vote(i) != Granted {
			continue
		}
		alike := 0
		for j := range o.said {
			if c.vote(j) == Granted && o.said[j].reply == o.said[i].reply {
				alike++
			}
		}
		if alike > most {
			r, most = o.said[i].reply, alike
		}
	}
	return r, most
}

// result is what the asker is told.
func (o *op) result(c counted) Result {
	n := len(o.said)
	t := c.tally(n)
	r := Result{
		Decision: c.decision(),
		Voted:    t.granted + t.refused,
		Needed:   quorumOf(n),
		Masters:  n,
	}
	switch o.Kind {
	case Acquire:
		if r.Decision == Contended {
			r.Value, r.Exists = o.seen(c)
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
			r.Reply, _ = o.reply(c)
		}
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

// prepare computes once what all masters get.
func (o *op) prepare(ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	o.ttl = pad(ttl)
	o.px = strconv.FormatInt(milliseconds(o.ttl), 10)
	if o.TTLArg > 0 {
		o.Args = slices.Clone(o.Args)
		o.Args[o.TTLArg] = o.px
	}
}
