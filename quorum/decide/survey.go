package decide

import "redlock-proxy/quorum"

// A survey asks masters for what is not about one key: which keys there are, how
// many, or that there be none.

// Asks tells whether the request is put to master i, counted from 0.
func (q *Question) Asks(i int) bool {
	return (q.Kind != quorum.Survey || q.Only == 0 || q.Only == i+1) && q.Without>>i&1 == 0
}

// asked is how many masters must answer a Survey.
func (c *counted) asked() int {
	if c.Only != 0 {
		return 1
	}
	return c.Quorum()
}

// survey decides a survey that so many masters must answer: when none is waited
// for any more, or so few are left that it is in vain.
func (t Tally) survey(asked int) quorum.Decision {
	switch {
	case t.Granted+t.pending < asked:
		return quorum.Unavailable
	case t.pending > 0:
		return quorum.Undecided
	}
	return quorum.Won
}

// answers are what the masters said, one for each.
func (c *counted) answers() []quorum.SurveyAnswer {
	answers := make([]quorum.SurveyAnswer, len(c.Said))
	for i := range c.Said {
		if c.Vote(i) == quorum.Granted {
			answers[i] = quorum.SurveyAnswer{Given: true, Server: c.Said[i].Value, Reply: c.Said[i].Journal.Reply}
		}
	}
	return answers
}

// replyOf is an answer in the words of Result.
func replyOf(a Answer) quorum.ScriptReply {
	r := quorum.ScriptReply{Reply: a.reply(), Elems: make([]quorum.ScriptReply, len(a.Elems))}
	for i := range a.Elems {
		r.Elems[i] = replyOf(a.Elems[i])
	}
	return r
}

func judgeSurvey(a Answer) (quorum.Vote, bool, Said) {
	return quorum.Granted, false, Said{Journal: &Journal{Reply: replyOf(a)}}
}
