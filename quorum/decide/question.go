package decide

import "redlock-proxy/quorum"

// Question is a request with what the masters have said of it. What it amounts to is decided by
// the votes on it: those of a Ballot, as of any moment.
type Question struct {
	quorum.Request

	// Said[i] is written by who asks master i before it casts its vote, and read by
	// nobody before that vote is seen in the ballot.
	Said []Said

	// Without are masters that it is not put to, the first as the lowest bit, see quorum.Request.Again.
	Without uint16

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
	if !a.Aside() && !a.TooLate() {
		v, did, s = judge(r, a)
	}
	if v == quorum.Unknown && a.Kind == quorum.FailureReply {
		s.Reply = a.reply()
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

// Decide is the decision that the votes in v amount to. It reads Said of the masters that
// have voted, and nothing else that could change.
func (q *Question) Decide(v Votes) quorum.Decision {
	c := q.counted(v)
	switch q.Kind {
	case quorum.Acquire:
		return c.decideAcquire()
	case quorum.Release:
		return c.release()
	case quorum.Extend:
		return c.extend()
	case quorum.Read:
		return c.decideRead()
	case quorum.Remove:
		return c.decideRemove()
	case quorum.Run:
		return c.decideRun()
	case quorum.Survey:
		return c.survey(c.asked())
	}
	return c.decideWrite()
}

// Result is what the asker is told, once the decision stands in v.
func (q *Question) Result(v Votes) quorum.Result {
	c := q.counted(v)
	r := quorum.Result{
		Decision: v.Decision(),
		Voted:    c.Granted + c.Refused + c.pending,
		Needed:   c.Quorum(),
		Masters:  len(q.Said),
		Votes:    v.ByMaster(),
	}
	switch q.Kind {
	case quorum.Acquire:
		c.tellAcquire(&r)
	case quorum.Release, quorum.Extend:
		c.tellCompare(&r)
	case quorum.Read:
		c.tellRead(&r)
	case quorum.Remove:
		c.tellRemove(&r)
	case quorum.Write:
		c.tellWrite(&r)
	case quorum.Run:
		c.tellRun(&r)
	case quorum.Survey:
		r.Answers = c.answers()
	}
	if q.Tracked {
		r.Alike = c.alike(&r)
	}
	if q.Spares && r.Decision == quorum.Won {
		r.Spared = c.spared(&r)
	}
	return r
}
