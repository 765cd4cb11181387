package engine

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// ofAnotherType is what is kept where a string was asked for and is not there:
// Redis's own error.
var ofAnotherType = said{typ: "another", named: true, reply: quorum.Reply{
	Kind: quorum.FailureReply, Str: "WRONGTYPE Operation against a key holding the wrong kind of value",
}}

// said is what the engine keeps of one master's answer until the request is
// settled. Which fields count depends on the kind of the request.
type said struct {
	nonce   marker.Nonce // under which the master was known when it was asked
	ordinal ordinal      // where the lane has sent it
	done    clock.Span   // when it was carried out, by the master's clock
	asked   clock.Span   // the same by ours: from when the batch was sent until it was answered
	value   string       // the value seen, removed or given another expiry; of a Survey, the server's run id
	typ     string       // its type; "" if there is none
	left    int64        // remaining ttl in milliseconds, or saysNoTTL
	named   bool         // value and type were told
	absent  bool         // there was no key
	reply   quorum.Reply

	journal *journaled // of a Run, and the reply to a Survey
}

// refusal is what the master said of itself where it did not carry out what was asked; "" if
// it said nothing.
func (s *said) refusal() string {
	switch {
	case s.journal != nil:
		return s.journal.trouble()
	case s.reply.Kind == quorum.FailureReply:
		return s.reply.Str
	}
	return ""
}

// judge turns a master's answer into its vote: what the master said, whether it
// carried out what was asked, and what to keep of the answer. It is pure.
func judge(r *quorum.Request, a master.Answer) (v quorum.Vote, did bool, s said) {
	if r.Kind == quorum.Acquire && a.LeftOut() > 0 {
		return quorum.Refused, false, s // what is there is a value, whatever it is
	}
	v = quorum.Unknown
	if !a.Aside() && !tooLate(a) {
		v, did, s = judgeAnswer(r, a)
	}
	if v == quorum.Unknown && a.Kind == quorum.FailureReply {
		s.reply = quorum.Reply{Kind: quorum.FailureReply, Str: a.Str}
	}
	return v, did, s
}

// judgeAnswer is judge of what is about the request.
func judgeAnswer(r *quorum.Request, a master.Answer) (v quorum.Vote, did bool, s said) {
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
		return judgeScript(a)
	case quorum.Survey:
		return quorum.Granted, false, said{journal: &journaled{reply: replyOf(a)}}
	}
	return judgeWrite(r, a)
}

// foundOther tells that the command was bound, and was left.
func foundOther(a master.Answer) bool { return a.Kind == quorum.IntegerReply && a.Int == saysOther }

// tooLate tells that the command was dated, and came too late.
func tooLate(a master.Answer) bool { return a.Kind == quorum.IntegerReply && a.Int == saysLate }

// judgeAcquire reads the reply to SET NX GET, or to acquireScript: nil if the key was set, else the
// value that is there.
func judgeAcquire(a master.Answer) (quorum.Vote, bool, said) {
	switch a.Kind {
	case quorum.NilReply:
		return quorum.Granted, true, said{}
	case quorum.BulkReply:
		return quorum.Refused, false, said{value: a.Str, typ: "string", named: true}
	}
	if a.WrongType() { // a key that is no string is a key
		return quorum.Refused, false, ofAnotherType
	}
	return quorum.Unknown, false, said{}
}

// judgeCompare reads the reply of releaseScript and extendScript.
func judgeCompare(a master.Answer) (quorum.Vote, bool, said) {
	switch {
	case a.Kind == quorum.IntegerReply && a.Int >= saysNoTTL:
		return quorum.Granted, true, said{left: a.Int}
	case a.Kind == quorum.IntegerReply && a.Int == saysAbsent:
		return quorum.Refused, false, said{absent: true}
	case a.Kind == quorum.IntegerReply && a.Int == saysOther:
		return quorum.Refused, false, said{}
	case a.WrongType():
		return quorum.Refused, false, ofAnotherType
	}
	return quorum.Unknown, false, said{}
}

func judgeRead(r *quorum.Request, a master.Answer) (quorum.Vote, bool, said) {
	if r.ValueOnly {
		switch {
		case a.Kind == quorum.NilReply:
			return quorum.Granted, true, said{absent: true}
		case a.Kind == quorum.BulkReply:
			return quorum.Granted, true, said{value: a.Str, typ: "string", named: true}
		case a.WrongType():
			return quorum.Granted, true, ofAnotherType
		}
		return quorum.Unknown, false, said{}
	}
	s, ok := typed(a)
	if !ok {
		return quorum.Unknown, false, said{}
	}
	return quorum.Granted, true, s
}

func judgeRemove(a master.Answer) (quorum.Vote, bool, said) {
	s, ok := typed(a)
	switch {
	case !ok:
		return quorum.Unknown, false, said{}
	case s.absent:
		return quorum.Refused, false, s
	}
	return quorum.Granted, true, s
}

// typed reads the reply of readScript and removeScript: {type, value, ttl}.
func typed(a master.Answer) (s said, ok bool) {
	if len(a.Elems) == 0 || a.Elems[0].Kind != quorum.BulkReply {
		return s, false
	}
	if a.Elems[0].Str == "none" {
		return said{absent: true}, true
	}
	if len(a.Elems) != 3 || a.Elems[1].Kind != quorum.BulkReply || a.Elems[2].Kind != quorum.IntegerReply {
		return s, false
	}
	s.typ, s.value, s.left = a.Elems[0].Str, a.Elems[1].Str, a.Elems[2].Int
	s.named = s.typ == "string"
	return s, true
}

// judgeWrite reads the reply of writeScript: {type, value, what the key was, its
// remaining ttl, the remaining ttl that it has now}.
func judgeWrite(r *quorum.Request, a master.Answer) (quorum.Vote, bool, said) {
	if a.Kind == quorum.FailureReply {
		return quorum.Granted, false, said{reply: quorum.Reply{Kind: quorum.FailureReply, Str: a.Str}}
	}
	if foundOther(a) {
		return quorum.Refused, false, said{}
	}
	if len(a.Elems) != 5 || a.Elems[3].Kind != quorum.IntegerReply || a.Elems[4].Kind != quorum.IntegerReply {
		return quorum.Unknown, false, said{}
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
		reply = quorum.Reply{Kind: quorum.FailureReply, Str: master.WithoutLua(reply.Str)}
		if (master.Answer{Kind: quorum.FailureReply, Str: reply.Str}).Aside() {
			return quorum.Unknown, false, said{reply: reply}
		}
		return quorum.Granted, false, said{reply: reply}
	default:
		return quorum.Unknown, false, said{}
	}
	s := said{reply: reply}
	did := hasActed(r, reply)
	if did {
		if r.Args[0] != "SET" {
			s.value = dump.Value(a.Elems[2].Str)
		}
		s.journal = journalOf(r, a.Elems[2].Str, a.Elems[3].Int, a.Elems[4].Int)
	}
	return quorum.Granted, did, s
}

// journalOf has the undo record of a Write that was carried out: what the key is
// now follows from the command. A removal is not to be undone, nor is what is done to
// a key that the master could not dump.
func journalOf(r *quorum.Request, before string, left, expires int64) *journaled {
	u := undoRecord{key: r.Key, before: before, left: left, after: before, expires: expires}
	if r.Args[0] == "SET" {
		u.after = r.Args[2]
	}
	j := &journaled{found: []undoRecord{u}}
	if left != saysOther && expires != saysAbsent {
		j.undo = j.found
	}
	return j
}

// hasActed tells by the reply to a Write whether it changed anything.
func hasActed(r *quorum.Request, reply quorum.Reply) bool {
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
