package decide

import (
	"redlock-proxy/quorum"
)

// judgeCompare reads the reply of releaseScript and extendScript.
func judgeCompare(a Answer) (quorum.Vote, bool, Said) {
	switch {
	case a.Kind == quorum.IntegerReply && a.Int >= SaysNoTTL:
		return quorum.Granted, true, Said{Left: a.Int}
	case a.Kind == quorum.IntegerReply && a.Int == SaysAbsent:
		return quorum.Refused, false, Said{Absent: true}
	case a.Kind == quorum.IntegerReply && a.Int == SaysOther:
		return quorum.Refused, false, Said{}
	case a.WrongType():
		return quorum.Refused, false, ofAnotherType
	}
	return quorum.Unknown, false, Said{}
}

// release decides a compare-and-delete or a removal: granted masters had the
// key and deleted it. An unknown master may have deleted it too; so may a
// withheld one that had nothing to delete, before it forgot. Without any that
// is known to have deleted it, there is no yes.
func (t tally) release() quorum.Decision {
	may := t.Granted + t.unknown + t.withheld
	switch {
	case t.Granted >= 1 && may >= t.Quorum():
		return quorum.Won
	case may+t.pending < t.Quorum():
		return quorum.Contended
	case t.pending > 0:
		return quorum.Undecided
	}
	return quorum.Unavailable
}

// refusals says why a compare failed: the key is gone, or holds another value,
// or is of another type.
func (q *Question) refusals(c Votes, r *quorum.Result) {
	absent, other := 0, 0
	for i := range q.Said {
		switch {
		case c.Vote(i) != quorum.Refused:
		case q.Said[i].Absent:
			absent++
		default:
			other++
			if q.Said[i].Reply.Kind == quorum.FailureReply {
				r.Reply = q.Said[i].Reply
			}
		}
	}
	r.Absent = absent > other
	if r.Absent {
		r.Reply = quorum.Reply{}
	}
}

// tellCompare tells of a release, and of an extension, why it was refused. One on which a
// quorum has voted, and yet no decision fell, is split.
func (q *Question) tellCompare(c Votes, t tally, r *quorum.Result) {
	if r.Decision == quorum.Contended {
		q.refusals(c, r)
	} else if r.Decision == quorum.Unavailable && !q.Second && t.Granted+t.Refused >= t.Quorum() {
		r.Decision = quorum.Split
	}
}
