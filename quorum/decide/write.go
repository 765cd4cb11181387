package decide

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/dump"
)

// A write is any other command that changes one key. A master grants it by answering, with an
// error, too: the answers are what is counted.

// judgeWrite reads the reply of the engine's script for writes: {type, value, what the key was, its
// remaining ttl, the remaining ttl that it has now}.
func judgeWrite(r *quorum.Request, a Answer) (quorum.Vote, bool, Said) {
	if a.Kind == quorum.FailureReply {
		return quorum.Granted, false, Said{Reply: a.reply()}
	}
	if foundOther(a) {
		return quorum.Refused, false, Said{}
	}
	if len(a.Elems) != 5 || a.Elems[3].Kind != quorum.IntegerReply || a.Elems[4].Kind != quorum.IntegerReply {
		return quorum.Unknown, false, Said{}
	}
	reply := quorum.Reply{Str: a.Elems[1].Str}
	switch a.Elems[0].Str {
	case "_":
		reply.Kind = quorum.NilReply
	case ":":
		reply = quorum.Reply{Kind: quorum.IntegerReply, Int: a.Elems[1].Int}
	case "$":
		reply.Kind = quorum.BulkReply
	case "+":
		reply.Kind = quorum.StatusReply
	case "-":
		reply = quorum.Reply{Kind: quorum.FailureReply, Str: WithoutLua(reply.Str)}
		if (Answer{Kind: quorum.FailureReply, Str: reply.Str}).Aside() {
			return quorum.Unknown, false, Said{Reply: reply}
		}
		return quorum.Granted, false, Said{Reply: reply}
	default:
		return quorum.Unknown, false, Said{}
	}
	s := Said{Reply: reply}
	did := HasActed(r, reply)
	if did {
		if r.Args[0] != "SET" {
			s.Value = dump.Value(a.Elems[2].Str)
		}
		s.Journal = journalOf(r, a.Elems[2].Str, near(a.Elems[3].Int), near(a.Elems[4].Int))
	} else {
		s.Left = near(a.Elems[4].Int)
	}
	return quorum.Granted, did, s
}

// journalOf has the undo record of a Write that was carried out: what the key is
// now follows from the command. A removal is not to be undone, nor is what is done to
// a key that the master could not dump.
func journalOf(r *quorum.Request, before string, left, expires int64) *Journal {
	u := UndoRecord{Key: r.Key, Before: before, Left: left, After: before, Expires: expires}
	if r.Args[0] == "SET" {
		u.After = r.Args[2]
	}
	j := &Journal{Found: []UndoRecord{u}}
	if left != SaysOther && expires != SaysAbsent {
		j.Undo = j.Found
	}
	return j
}

// HasActed tells by the reply to a Write whether it changed anything.
func HasActed(r *quorum.Request, reply quorum.Reply) bool {
	switch reply.Kind {
	case quorum.NilReply:
		// SET ... GET answers nil for a key that was not there and now is, SET
		// XX GET for one that is not.
		return r.Has("GET") && !r.Has("XX")
	case quorum.IntegerReply:
		return reply.Int != 0
	case quorum.FailureReply:
		return false
	}
	return true
}

// Outcome is what most masters said of a Write, and how many they are. Where it has
// changed the life of a value, that is part of it:
//
//	1: A holds k on masters 1 and 2; on 3 is what another's lost SET has left
//	2: master 2 hangs; A sends EXPIRE k: 1 and 3 say yes
func (q *Question) Outcome(v Votes) (s Said, most int) {
	c := q.counted(v)
	return c.outcome()
}

func (c *counted) outcome() (s Said, most int) {
	return c.most(quorum.Granted, func(*Said) bool { return true }, func(s, other *Said) bool {
		return s.Reply == other.Reply && dump.SameValue(s.Value, other.Value)
	})
}

// write decides any other write: granted masters answered it, alike of them
// with the most frequent reply.
func (t Tally) write(alike int) quorum.Decision {
	switch {
	case alike >= t.Quorum():
		return quorum.Won
	case t.pending > 0 && (alike+t.pending >= t.Quorum() ||
		t.Granted < t.Quorum() && t.Granted+t.pending >= t.Quorum()):
		return quorum.Undecided
	case t.Granted >= t.Quorum():
		return quorum.Split
	}
	return quorum.Unavailable
}

func (c *counted) decideWrite() quorum.Decision {
	_, alike := c.outcome()
	return c.write(alike)
}

func (c *counted) tellWrite(r *quorum.Result) {
	if r.Decision == quorum.Won {
		s, _ := c.outcome()
		r.Reply = s.Reply
	}
}
