package engine

import "redlock-proxy/quorum"

// A survey asks masters for what is not about one key: which keys there are, how
// many, or that there be none.

// asks tells whether the op is put to lane i.
func (o *op) asks(i int) bool { return o.Kind != quorum.Survey || o.Only == 0 || o.Only == i+1 }

// asked is how many masters must answer a Survey.
func (o *op) asked() int {
	if o.Only != 0 {
		return 1
	}
	return quorum.QuorumOf(len(o.said))
}

// survey decides a survey that so many masters must answer: when none is waited
// for any more, or so few are left that it is in vain.
func (t tally) survey(asked int) quorum.Decision {
	switch {
	case t.granted+t.pending < asked:
		return quorum.Unavailable
	case t.pending > 0:
		return quorum.Undecided
	}
	return quorum.Won
}

// answers are what the masters said, one for each.
func (o *op) answers(c counted) []quorum.Answer {
	answers := make([]quorum.Answer, len(o.said))
	for i := range o.said {
		if c.vote(i) == quorum.Granted {
			answers[i] = quorum.Answer{Given: true, Server: o.said[i].value, Reply: o.said[i].journal.reply}
		}
	}
	return answers
}

// reply is an answer in the words of Result.
func (a answer) reply() quorum.ScriptReply {
	if a.kind != 0 {
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: a.kind, Str: a.str, Int: a.int}}
	}
	r := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: make([]quorum.ScriptReply, len(a.elems))}
	for i := range a.elems {
		r.Elems[i] = a.elems[i].reply()
	}
	return r
}
