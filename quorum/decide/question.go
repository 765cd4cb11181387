package decide

import "redlock-proxy/quorum"

// Question is a request with what the masters have said of it.
type Question struct {
	quorum.Request

	// Said[i] is written by who asks master i before it casts its vote, and read by
	// nobody before that vote is seen in the ballot.
	Said []Said

	// Second says that it is the second step of an acquire without ttl, which has none of
	// its own to be told.
	Second bool
}

// Judge turns a master's answer into its vote: what the master said, whether it
// carried out what was asked, and what to keep of the answer.
func Judge(r *quorum.Request, a Answer) (v quorum.Vote, did bool, s Said) {
	if r.Kind == quorum.Acquire && a.LeftOut() > 0 {
		return quorum.Refused, false, s // what is there is a value, whatever it is
	}
	v = quorum.Unknown
	if !a.Aside() && !tooLate(a) {
		v, did, s = judge(r, a)
	}
	if v == quorum.Unknown && a.Kind == quorum.FailureReply {
		s.Reply = quorum.Reply{Kind: quorum.FailureReply, Str: a.Str}
	}
	return v, did, s
}

// judge is Judge of what is about the request.
func judge(r *quorum.Request, a Answer) (v quorum.Vote, did bool, s Said) {
	switch r.Kind {
	case quorum.Acquire:
		return judgeAcquire(a)
	case quorum.Release, quorum.Extend:
		return judgeCompare(a)
	case quorum.Read:
		return judgeRead(r, a)
	case quorum.Remove:
		return judgeRemove(a)
	case quorum.Run:
		return judgeRun(a)
	case quorum.Survey:
		return judgeSurvey(a)
	}
	return judgeWrite(r, a)
}

// Decide is the decision that the votes in c amount to. It reads Said of the masters that
// have voted, and nothing else that could change.
func (q *Question) Decide(c Votes) quorum.Decision {
	t := c.Tally(len(q.Said))
	switch q.Kind {
	case quorum.Acquire:
		return q.decideAcquire(c, t)
	case quorum.Release:
		return t.release()
	case quorum.Extend:
		return t.extend()
	case quorum.Read:
		return q.decideRead(c, t)
	case quorum.Remove:
		return q.decideRemove(c, t)
	case quorum.Run:
		return q.decideRun(c, t)
	case quorum.Survey:
		return t.survey(q.asked())
	}
	return q.decideWrite(c, t)
}

// Result is what the asker is told.
func (q *Question) Result(c Votes) quorum.Result {
	n := len(q.Said)
	t := c.Tally(n)
	r := quorum.Result{
		Decision: c.Decision(),
		Voted:    t.Granted + t.Refused + t.pending,
		Needed:   quorum.QuorumOf(n),
		Masters:  n,
	}
	switch q.Kind {
	case quorum.Acquire:
		q.tellAcquire(c, &r)
	case quorum.Release, quorum.Extend:
		q.tellCompare(c, t, &r)
	case quorum.Read:
		q.tellRead(c, t, &r)
	case quorum.Remove:
		q.tellRemove(&r)
	case quorum.Write:
		q.tellWrite(c, &r)
	case quorum.Run:
		q.tellRun(c, &r)
	case quorum.Survey:
		r.Answers = q.answers(c)
	}
	return r
}
