package decide

import (
	"redlock-proxy/quorum"
)

func judgeRemove(a Answer) (quorum.Vote, bool, Said) {
	s, ok := typed(a)
	switch {
	case !ok:
		return quorum.Unknown, false, Said{}
	case s.Absent:
		return quorum.Refused, false, s
	}
	return quorum.Granted, true, s
}

// owable tells that what was removed can be owed to the masters that have not answered: it
// is named by its value, which is told of strings alone.
func (q *Question) owable(c Votes) bool {
	s, _ := q.Held(c)
	return s.Named
}

func (q *Question) decideRemove(c Votes, t tally) quorum.Decision {
	d := t.release()
	if d == quorum.Won && t.Granted+t.Refused < t.Quorum() && !q.owable(c) {
		if t.pending > 0 {
			return quorum.Undecided
		}
		return quorum.Unavailable
	}
	return d
}

// tellRemove tells of one that was asked as an expiry what that would have told.
func (q *Question) tellRemove(r *quorum.Result) {
	if q.TTLArg > 0 && (r.Decision == quorum.Won || r.Decision == quorum.Contended) {
		r.Reply = quorum.Reply{Kind: quorum.IntegerReply}
		if r.Decision == quorum.Won {
			r.Reply.Int = 1
		}
		r.Decision = quorum.Won // of the expiry that it was asked as
	}
}
