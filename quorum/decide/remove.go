package decide

import "redlock-proxy/quorum"

// A removal deletes a key, whatever it holds. Who granted it has deleted the key and told what
// that was; who refused it had none. It is decided as a release is.

func judgeRemove(a Answer) (quorum.Vote, bool, Said) {
	s, ok := typed(a)
	switch {
	case !ok:
		return quorum.Unknown, false, Said{}
	case s.Absent:
		return quorum.Refused, false, s
	}
	s.Left = near(s.Left)
	return quorum.Granted, true, s
}

func (c *counted) decideRemove() quorum.Decision {
	d := c.release()
	if d == quorum.Won && c.Granted+c.Refused < c.Quorum() && !c.owable() {
		if c.pending > 0 {
			return quorum.Undecided
		}
		return quorum.Unavailable
	}
	return d
}

// owable tells that what was removed can be owed to the masters that have not answered: it
// is named by its value, which is told of strings alone.
func (c *counted) owable() bool {
	s, _ := c.held()
	return s.Named
}

// tellRemove tells of one that was asked as an expiry what that would have told.
func (c *counted) tellRemove(r *quorum.Result) {
	if c.TTLArg > 0 && (r.Decision == quorum.Won || r.Decision == quorum.Contended) {
		r.Reply = quorum.Reply{Kind: quorum.IntegerReply}
		if r.Decision == quorum.Won {
			r.Reply.Int = 1
		}
		r.Decision = quorum.Won // of the expiry that it was asked as
	}
}
