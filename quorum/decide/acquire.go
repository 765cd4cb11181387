package decide

import "redlock-proxy/quorum"

// An acquire sets a key that is not there. Who granted it has set the key, who refused it has a
// key there already.

// judgeAcquire reads the reply to SET NX GET, or to the engine's script that does the same: nil
// if the key was set, else the value that is there.
func judgeAcquire(a Answer) (quorum.Vote, bool, Said) {
	switch a.Kind {
	case quorum.NilReply:
		return quorum.Granted, true, Said{}
	case quorum.BulkReply:
		return quorum.Refused, false, Said{Value: a.Str, typ: "string", Named: true}
	}
	if a.WrongType() { // a key that is no string is a key
		return quorum.Refused, false, ofAnotherType
	}
	return quorum.Unknown, false, Said{}
}

// acquire decides an acquire. seen tells whether one single value was named by
// a quorum; it is only asked when it matters.
func (t Tally) acquire(seen func() bool) quorum.Decision {
	switch {
	case t.Granted >= t.Quorum():
		return quorum.Won
	case t.blocked():
		// Several contenders may have divided the masters among themselves, so
		// that each is refused by the others' grants and nobody holds the lock.
		if t.Granted > 0 && !seen() {
			return quorum.Split
		}
		return quorum.Contended
	case t.open():
		return quorum.Undecided
	case t.Granted+t.Refused >= t.Quorum():
		return quorum.Split
	case t.Granted+t.Refused+t.pending >= t.Quorum():
		// With masters down, those that are left may still have voted enough
		// for a split, which is tried again, where unavailable is an outage.
		return quorum.Undecided
	}
	return quorum.Unavailable
}

// told decides an acquire that is blocked, where a refusal is to tell what is there: most
// is how many have named the same.
func (t Tally) told(most int) quorum.Decision {
	switch {
	case most >= t.Quorum():
		return quorum.Contended
	case most+t.pending >= t.Quorum():
		return quorum.Undecided
	}
	return quorum.Split
}

// inTheWay is what most masters named when they refused an acquire, and how many they are.
func (c *counted) inTheWay() (s Said, most int) {
	return c.most(quorum.Refused, func(s *Said) bool { return s.Named }, (*Said).holds)
}

func (c *counted) decideAcquire() quorum.Decision {
	if c.TellsValue && c.blocked() {
		_, most := c.inTheWay()
		return c.told(most)
	}
	return c.acquire(func() bool { _, most := c.inTheWay(); return most >= c.Quorum() })
}

// tellAcquire tells of one that is refused what is there, where a quorum has named the same.
func (c *counted) tellAcquire(r *quorum.Result) {
	if r.Decision != quorum.Contended {
		return
	}
	if s, most := c.inTheWay(); most >= r.Needed {
		r.Exists, r.Type, r.Value, r.Reply = true, s.typ, s.Value, s.Reply
	}
}
