package decide

import "redlock-proxy/quorum"

// A release and an extend compare: they act on a key that holds the token. Who granted one has
// acted; who refused it lacks the key, or holds something else there.

// judgeCompare reads the reply of the engine's scripts for both: the remaining ttl that the key
// had, or why nothing was done.
func judgeCompare(a Answer) (quorum.Vote, bool, Said) {
	switch {
	case a.Kind == quorum.IntegerReply && a.Int >= SaysNoTTL:
		return quorum.Granted, true, Said{Left: near(a.Int)}
	case a.Kind == quorum.IntegerReply && a.Int == SaysAbsent:
		return quorum.Refused, false, Said{Absent: true}
	case a.Kind == quorum.IntegerReply && a.Int == SaysOther:
		return quorum.Refused, false, Said{}
	case a.WrongType():
		return quorum.Refused, false, ofAnotherType
	}
	return quorum.Unknown, false, Said{}
}

// tellCompare tells why one was refused. One on which a quorum has voted, and yet no decision
// fell, is split.
func (c *counted) tellCompare(r *quorum.Result) {
	if r.Decision == quorum.Contended {
		c.tellRefusals(r)
	} else if r.Decision == quorum.Unavailable && !c.Second && c.Granted+c.Refused >= c.Quorum() {
		r.Decision = quorum.Split
	}
}

// tellRefusals tells what most found there who refused: no key, or another value, or another
// type.
func (c *counted) tellRefusals(r *quorum.Result) {
	absent := c.count(quorum.Refused, func(s *Said) bool { return s.Absent })
	if r.Absent = absent > c.Refused-absent; r.Absent {
		return
	}
	for i := range c.Said {
		if s := &c.Said[i]; c.Vote(i) == quorum.Refused && !s.Absent && s.Reply.Kind == quorum.FailureReply {
			r.Reply = s.Reply
		}
	}
}
