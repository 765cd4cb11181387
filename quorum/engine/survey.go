package engine

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

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
func replyOf(a master.Answer) quorum.ScriptReply {
	if a.Kind != 0 {
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: a.Kind, Str: a.Str, Int: a.Int}}
	}
	r := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: make([]quorum.ScriptReply, len(a.Elems))}
	for i := range a.Elems {
		r.Elems[i] = replyOf(a.Elems[i])
	}
	return r
}
