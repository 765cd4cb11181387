package decide

import (
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/registry"
)

// A read asks what a key holds. A master grants it by answering, that it holds nothing, too: the
// answers are what is counted.

// judgeRead reads the reply to GET, or to the engine's script that tells type and ttl besides.
func judgeRead(r *quorum.Request, a Answer) (quorum.Vote, bool, Said) {
	if r.ValueOnly {
		switch {
		case a.Kind == quorum.NilReply:
			return quorum.Granted, true, Said{Absent: true}
		case a.Kind == quorum.BulkReply:
			return quorum.Granted, true, Said{Value: a.Str, typ: "string", Named: true}
		case a.WrongType():
			return quorum.Granted, true, ofAnotherType
		}
		return quorum.Unknown, false, Said{}
	}
	s, ok := typed(a)
	if !ok {
		return quorum.Unknown, false, Said{}
	}
	return quorum.Granted, true, s
}

// typed reads the reply of the engine's scripts for reads and removals: {type, value, ttl}.
func typed(a Answer) (s Said, ok bool) {
	if len(a.Elems) == 0 || a.Elems[0].Kind != quorum.BulkReply {
		return s, false
	}
	if a.Elems[0].Str == "none" {
		return Said{Absent: true}, true
	}
	if len(a.Elems) != 3 || a.Elems[1].Kind != quorum.BulkReply || a.Elems[2].Kind != quorum.IntegerReply {
		return s, false
	}
	s.typ, s.Value, s.Left = a.Elems[0].Str, a.Elems[1].Str, a.Elems[2].Int
	s.Named = s.typ == "string"
	return s, true
}

// read decides a read: most is how many of the masters that answered hold the
// most frequent value. Won also covers that there is no such key, which needs
// no quorum of its own: it is known as soon as no value can have one. While a master is
// away, a lock that is being taken or freed is on some of the others and not on the rest:
// that is split, and tried again. If it stays so, a quorum may hold the value or not.
func (t Tally) read(most int) quorum.Decision {
	switch {
	case most >= t.Quorum():
		return quorum.Won
	case most+t.unknown+t.withheld+t.pending < t.Quorum():
		return quorum.Won
	case t.pending > 0 && (most+t.pending >= t.Quorum() || most+t.unknown+t.withheld < t.Quorum() ||
		t.Granted < t.Quorum() && t.Granted+t.pending >= t.Quorum()):
		return quorum.Undecided
	case t.Granted >= t.Quorum():
		return quorum.Split
	}
	return quorum.Unavailable
}

// lacked decides a read of a key of which no value can have a quorum: so many masters have
// told that they lack it. Where they are too few for that to be the reason, it may be on its
// way from one value to another, and the read is tried again, as what is split is:
//
//	1: master 3 missed a write of k: 1 and 2 hold k=5, and 3 holds k=4
//	2: A counts to 6; master 1 does so first, and B reads 6, 5 and 4
//
// Only if they differ for good does nobody hold anything.
func (t Tally) lacked(lack int) quorum.Decision {
	switch {
	case lack >= t.blocking():
		return quorum.Won
	case lack+t.pending >= t.blocking():
		return quorum.Undecided
	}
	return quorum.Split
}

// Held is the value (or, for what is no string, the type) that most masters
// hold, and how many they are; 0 if those that have voted hold none.
func (q *Question) Held(v Votes) (s Said, most int) {
	c := q.counted(v)
	return c.held()
}

func (c *counted) held() (s Said, most int) {
	return c.most(quorum.Granted, func(s *Said) bool { return !s.Absent }, (*Said).holds)
}

// holds tells of two masters that they hold the same, as far as is told of it.
func (s *Said) holds(t *Said) bool {
	return !s.Absent && s.typ == t.typ && s.Value == t.Value
}

// remaining tells the ttl that a quorum still holds value s for, as its client counts it; over, that
// masters hold it for the clocks' allowance alone.
func (c *counted) remaining(s *Said) (ttl time.Duration, far int64, over bool) {
	l := c.lefts(s)
	switch p := l.held(c.Quorum()); {
	case p == SaysNoTTL:
		return quorum.NoTTL, 0, false
	case p > clock.FarFrom:
		return quorum.NoTTL, p, false
	default:
		known := c.Counted
		if known.Sign != 0 && (s.typ != "string" || known.Sign != uint64(registry.SignOf(s.Value))) {
			known = quorum.Counted{} // it is another one's, who has it by another proxy
		}
		ttl = clock.Left(time.Duration(p)*time.Millisecond, known.TTL, known.Left)
		return max(ttl, time.Millisecond), 0, ttl < 0 && !c.ValueOnly
	}
}

// lefts are those of the masters that hold s.
func (c *counted) lefts(s *Said) (l lefts) {
	for i := range c.Said {
		if c.Vote(i) == quorum.Granted && c.Said[i].holds(s) {
			l.add(c.Said[i].Left)
		}
	}
	return l
}

func (c *counted) decideRead() quorum.Decision {
	s, most := c.held()
	d := c.read(most)
	if d == quorum.Won && most < c.Quorum() {
		return c.lacked(c.count(quorum.Granted, func(s *Said) bool { return s.Absent }))
	}
	if d == quorum.Won && most >= c.Quorum() && !c.ValueOnly {
		if l := c.lefts(&s); l.open(c.Quorum(), c.pending) {
			return quorum.Undecided
		}
	}
	return d
}

// tellRead tells what a quorum holds. Of one that is split it tells that there is nothing, if
// that is known, and else the type of what most hold.
func (c *counted) tellRead(r *quorum.Result) {
	s, most := c.held()
	if r.Decision == quorum.Split {
		if r.Decision = c.read(most); r.Decision == quorum.Split {
			r.Type = s.typ
		}
	} else if r.Decision == quorum.Won && most >= r.Needed {
		ttl, far, over := c.remaining(&s)
		if over {
			return
		}
		r.Exists, r.Type, r.Value, r.TTL, r.Far, r.Reply = true, s.typ, s.Value, ttl, far, s.Reply
	}
}
