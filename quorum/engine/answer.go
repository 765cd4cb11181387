package engine

import (
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// answer is one reply of a master to one command. Its kind is zero for an
// array, whose parts are in elems.
type answer struct {
	kind  quorum.ReplyKind
	str   string
	int   int64
	elems []answer
}

// newAnswer takes over what rueidis read. Status and bulk strings are not told
// apart there; both become BulkReply.
func newAnswer(m rueidis.RedisMessage) answer {
	switch {
	case m.IsNil():
		return answer{kind: quorum.NilReply}
	case m.IsInt64():
		n, _ := m.AsInt64()
		return answer{kind: quorum.IntegerReply, int: n}
	case m.IsString():
		s, _ := m.ToString()
		return answer{kind: quorum.BulkReply, str: s}
	case m.IsArray():
		parts, _ := m.ToArray()
		a := answer{elems: make([]answer, len(parts))}
		for i := range parts {
			a.elems[i] = newAnswer(parts[i])
		}
		return a
	}
	// Of an error, ToString gives the whole text, and Error one without "ERR ".
	s, _ := m.ToString()
	return failure(s)
}

// failure is an error that a master has answered with. Of a command that it does not know it
// tells the arguments as well, which may be a token.
func failure(text string) answer {
	if strings.HasPrefix(text, unknownCommand) {
		text, _, _ = strings.Cut(text, ", with args")
	}
	return answer{kind: quorum.FailureReply, str: withoutLua(text)}
}

// withoutLua is the reply by which a master says why it does not carry out what a script
// asks for. Those before 7.0 put what Lua says around it:
//
//	ERR Error running script (call to f_0123): @user_script:1: @user_script: 1: -OOM command
//	not allowed
//
// or, where the script catches it, what is behind the first place.
func withoutLua(text string) string {
	const place = "@user_script: "
	before, inner, found := strings.Cut(text, ": -")
	if !found || !strings.HasPrefix(text, "ERR Error running script ") && !strings.HasPrefix(text, place) {
		return text
	}
	line := before[strings.LastIndexByte(before, ' ')+1:]
	if _, err := strconv.Atoi(line); err != nil || !strings.HasSuffix(before, place+line) {
		return text
	}
	return strings.TrimRight(inner, "\r\n")
}

// failed tells that the master answered with an error that begins with code.
func (a answer) failed(code string) bool {
	return a.kind == quorum.FailureReply && strings.HasPrefix(a.str, code)
}

// aside tells that a master's error is about the master, not about the command:
// it says nothing of whether another master would do it, and a client is told
// NOQUORUM instead of it.
func (a answer) aside() bool {
	return a.kind == quorum.FailureReply && (!a.failed("ERR ") || a.failed(unknownCommand)) && !a.failed("WRONGTYPE")
}

// wrongType tells that the key holds something that is no string. Scripts put
// words of their own around the error, which differ between versions.
func (a answer) wrongType() bool {
	return a.kind == quorum.FailureReply && strings.Contains(a.str, "WRONGTYPE ")
}

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
func judge(r *quorum.Request, a answer) (v quorum.Vote, did bool, s said) {
	if r.Kind == quorum.Acquire && a.leftOut() > 0 {
		return quorum.Refused, false, s // what is there is a value, whatever it is
	}
	v = quorum.Unknown
	if !a.aside() && !a.tooLate() {
		v, did, s = judgeAnswer(r, a)
	}
	if v == quorum.Unknown && a.kind == quorum.FailureReply {
		s.reply = quorum.Reply{Kind: quorum.FailureReply, Str: a.str}
	}
	return v, did, s
}

// judgeAnswer is judge of what is about the request.
func judgeAnswer(r *quorum.Request, a answer) (v quorum.Vote, did bool, s said) {
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
		return quorum.Granted, false, said{journal: &journaled{reply: a.reply()}}
	}
	return judgeWrite(r, a)
}

// otherFound tells that the command was bound, and was left.
func (a answer) otherFound() bool { return a.kind == quorum.IntegerReply && a.int == saysOther }

// tooLate tells that the command was dated, and came too late.
func (a answer) tooLate() bool { return a.kind == quorum.IntegerReply && a.int == saysLate }

// judgeAcquire reads the reply to SET NX GET, or to acquireScript: nil if the key was set, else the
// value that is there.
func judgeAcquire(a answer) (quorum.Vote, bool, said) {
	switch a.kind {
	case quorum.NilReply:
		return quorum.Granted, true, said{}
	case quorum.BulkReply:
		return quorum.Refused, false, said{value: a.str, typ: "string", named: true}
	}
	if a.wrongType() { // a key that is no string is a key
		return quorum.Refused, false, ofAnotherType
	}
	return quorum.Unknown, false, said{}
}

// judgeCompare reads the reply of releaseScript and extendScript.
func judgeCompare(a answer) (quorum.Vote, bool, said) {
	switch {
	case a.kind == quorum.IntegerReply && a.int >= saysNoTTL:
		return quorum.Granted, true, said{left: a.int}
	case a.kind == quorum.IntegerReply && a.int == saysAbsent:
		return quorum.Refused, false, said{absent: true}
	case a.kind == quorum.IntegerReply && a.int == saysOther:
		return quorum.Refused, false, said{}
	case a.wrongType():
		return quorum.Refused, false, ofAnotherType
	}
	return quorum.Unknown, false, said{}
}

func judgeRead(r *quorum.Request, a answer) (quorum.Vote, bool, said) {
	if r.ValueOnly {
		switch {
		case a.kind == quorum.NilReply:
			return quorum.Granted, true, said{absent: true}
		case a.kind == quorum.BulkReply:
			return quorum.Granted, true, said{value: a.str, typ: "string", named: true}
		case a.wrongType():
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

func judgeRemove(a answer) (quorum.Vote, bool, said) {
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
func typed(a answer) (s said, ok bool) {
	if len(a.elems) == 0 || a.elems[0].kind != quorum.BulkReply {
		return s, false
	}
	if a.elems[0].str == "none" {
		return said{absent: true}, true
	}
	if len(a.elems) != 3 || a.elems[1].kind != quorum.BulkReply || a.elems[2].kind != quorum.IntegerReply {
		return s, false
	}
	s.typ, s.value, s.left = a.elems[0].str, a.elems[1].str, a.elems[2].int
	s.named = s.typ == "string"
	return s, true
}

// judgeWrite reads the reply of writeScript: {type, value, what the key was, its
// remaining ttl, the remaining ttl that it has now}.
func judgeWrite(r *quorum.Request, a answer) (quorum.Vote, bool, said) {
	if a.kind == quorum.FailureReply {
		return quorum.Granted, false, said{reply: quorum.Reply{Kind: quorum.FailureReply, Str: a.str}}
	}
	if a.otherFound() {
		return quorum.Refused, false, said{}
	}
	if len(a.elems) != 5 || a.elems[3].kind != quorum.IntegerReply || a.elems[4].kind != quorum.IntegerReply {
		return quorum.Unknown, false, said{}
	}
	reply := quorum.Reply{Str: a.elems[1].str}
	switch a.elems[0].str {
	case "_":
		reply.Kind = quorum.NilReply
	case ":":
		reply = quorum.Reply{Kind: quorum.IntegerReply, Int: a.elems[1].int}
	case "$":
		reply.Kind = quorum.BulkReply
	case "+":
		reply.Kind = quorum.StatusReply
	case "-":
		reply = quorum.Reply{Kind: quorum.FailureReply, Str: withoutLua(reply.Str)}
		if (answer{kind: quorum.FailureReply, str: reply.Str}).aside() {
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
			s.value = dumped(a.elems[2].str)
		}
		s.journal = journalOf(r, a.elems[2].str, a.elems[3].int, a.elems[4].int)
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
