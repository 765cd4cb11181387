package quorum

import (
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// answer is one reply of a master to one command. Its kind is zero for an
// array, whose parts are in elems.
type answer struct {
	kind  ReplyKind
	str   string
	int   int64
	elems []answer
}

// newAnswer takes over what rueidis read. Status and bulk strings are not told
// apart there; both become BulkReply.
func newAnswer(m rueidis.RedisMessage) answer {
	switch {
	case m.IsNil():
		return answer{kind: NilReply}
	case m.IsInt64():
		n, _ := m.AsInt64()
		return answer{kind: IntegerReply, int: n}
	case m.IsString():
		s, _ := m.ToString()
		return answer{kind: BulkReply, str: s}
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
	return answer{kind: FailureReply, str: withoutLua(text)}
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
	return a.kind == FailureReply && strings.HasPrefix(a.str, code)
}

// aside tells that a master's error is about the master, not about the command:
// it says nothing of whether another master would do it, and a client is told
// NOQUORUM instead of it.
func (a answer) aside() bool {
	return a.kind == FailureReply && (!a.failed("ERR ") || a.failed(unknownCommand)) && !a.failed("WRONGTYPE")
}

// wrongType tells that the key holds something that is no string. Scripts put
// words of their own around the error, which differ between versions.
func (a answer) wrongType() bool {
	return a.kind == FailureReply && strings.Contains(a.str, "WRONGTYPE ")
}

// ofAnotherType is what is kept where a string was asked for and is not there:
// Redis's own error.
var ofAnotherType = said{typ: "another", named: true, reply: Reply{
	Kind: FailureReply, Str: "WRONGTYPE Operation against a key holding the wrong kind of value",
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
	reply   Reply

	journal *journaled // of a Run, and the reply to a Survey
}

// refusal is what the master said of itself where it did not carry out what was asked; "" if
// it said nothing.
func (s *said) refusal() string {
	switch {
	case s.journal != nil:
		return s.journal.trouble()
	case s.reply.Kind == FailureReply:
		return s.reply.Str
	}
	return ""
}

// judge turns a master's answer into its vote: what the master said, whether it
// carried out what was asked, and what to keep of the answer. It is pure.
func (r *Request) judge(a answer) (v Vote, did bool, s said) {
	if r.Kind == Acquire && a.leftOut() > 0 {
		return Refused, false, s // what is there is a value, whatever it is
	}
	v = Unknown
	if !a.aside() && !a.tooLate() {
		v, did, s = r.judgeAnswer(a)
	}
	if v == Unknown && a.kind == FailureReply {
		s.reply = Reply{Kind: FailureReply, Str: a.str}
	}
	return v, did, s
}

// judgeAnswer is judge of what is about the request.
func (r *Request) judgeAnswer(a answer) (v Vote, did bool, s said) {
	switch r.Kind {
	case Acquire:
		return judgeAcquire(a)
	case Release, Extend:
		return judgeCompare(a)
	case Read:
		return r.judgeRead(a)
	case Remove:
		return judgeRemove(a)
	case Run:
		return judgeScript(a)
	case Survey:
		return Granted, false, said{journal: &journaled{reply: a.reply()}}
	}
	return r.judgeWrite(a)
}

// otherFound tells that the command was bound, and was left.
func (a answer) otherFound() bool { return a.kind == IntegerReply && a.int == saysOther }

// tooLate tells that the command was dated, and came too late.
func (a answer) tooLate() bool { return a.kind == IntegerReply && a.int == saysLate }

// judgeAcquire reads the reply to SET NX GET, or to acquireScript: nil if the key was set, else the
// value that is there.
func judgeAcquire(a answer) (Vote, bool, said) {
	switch a.kind {
	case NilReply:
		return Granted, true, said{}
	case BulkReply:
		return Refused, false, said{value: a.str, typ: "string", named: true}
	}
	if a.wrongType() { // a key that is no string is a key
		return Refused, false, ofAnotherType
	}
	return Unknown, false, said{}
}

// judgeCompare reads the reply of releaseScript and extendScript.
func judgeCompare(a answer) (Vote, bool, said) {
	switch {
	case a.kind == IntegerReply && a.int >= saysNoTTL:
		return Granted, true, said{left: a.int}
	case a.kind == IntegerReply && a.int == saysAbsent:
		return Refused, false, said{absent: true}
	case a.kind == IntegerReply && a.int == saysOther:
		return Refused, false, said{}
	case a.wrongType():
		return Refused, false, ofAnotherType
	}
	return Unknown, false, said{}
}

func (r *Request) judgeRead(a answer) (Vote, bool, said) {
	if r.ValueOnly {
		switch {
		case a.kind == NilReply:
			return Granted, true, said{absent: true}
		case a.kind == BulkReply:
			return Granted, true, said{value: a.str, typ: "string", named: true}
		case a.wrongType():
			return Granted, true, ofAnotherType
		}
		return Unknown, false, said{}
	}
	s, ok := typed(a)
	if !ok {
		return Unknown, false, said{}
	}
	return Granted, true, s
}

func judgeRemove(a answer) (Vote, bool, said) {
	s, ok := typed(a)
	switch {
	case !ok:
		return Unknown, false, said{}
	case s.absent:
		return Refused, false, s
	}
	return Granted, true, s
}

// typed reads the reply of readScript and removeScript: {type, value, ttl}.
func typed(a answer) (s said, ok bool) {
	if len(a.elems) == 0 || a.elems[0].kind != BulkReply {
		return s, false
	}
	if a.elems[0].str == "none" {
		return said{absent: true}, true
	}
	if len(a.elems) != 3 || a.elems[1].kind != BulkReply || a.elems[2].kind != IntegerReply {
		return s, false
	}
	s.typ, s.value, s.left = a.elems[0].str, a.elems[1].str, a.elems[2].int
	s.named = s.typ == "string"
	return s, true
}

// judgeWrite reads the reply of writeScript: {type, value, what the key was, its
// remaining ttl, the remaining ttl that it has now}.
func (r *Request) judgeWrite(a answer) (Vote, bool, said) {
	if a.kind == FailureReply {
		return Granted, false, said{reply: Reply{Kind: FailureReply, Str: a.str}}
	}
	if a.otherFound() {
		return Refused, false, said{}
	}
	if len(a.elems) != 5 || a.elems[3].kind != IntegerReply || a.elems[4].kind != IntegerReply {
		return Unknown, false, said{}
	}
	reply := Reply{Str: a.elems[1].str}
	switch a.elems[0].str {
	case "_":
		reply.Kind = NilReply
	case ":":
		reply = Reply{Kind: IntegerReply, Int: a.elems[1].int}
	case "$":
		reply.Kind = BulkReply
	case "+":
		reply.Kind = StatusReply
	case "-":
		reply = Reply{Kind: FailureReply, Str: withoutLua(reply.Str)}
		if (answer{kind: FailureReply, str: reply.Str}).aside() {
			return Unknown, false, said{reply: reply}
		}
		return Granted, false, said{reply: reply}
	default:
		return Unknown, false, said{}
	}
	s := said{reply: reply}
	did := r.carriedOut(reply)
	if did {
		if r.Args[0] != "SET" {
			s.value = dumped(a.elems[2].str)
		}
		s.journal = r.journalOf(a.elems[2].str, a.elems[3].int, a.elems[4].int)
	}
	return Granted, did, s
}

// journalOf has the undo record of a Write that was carried out: what the key is
// now follows from the command. A removal is not to be undone, nor is what is done to
// a key that the master could not dump.
func (r *Request) journalOf(before string, left, expires int64) *journaled {
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

// carriedOut tells by the reply to a Write whether it changed anything.
func (r *Request) carriedOut(reply Reply) bool {
	switch reply.Kind {
	case NilReply:
		// SET ... GET answers nil for a key that was not there and now is, SET
		// XX GET for one that is not.
		return r.has("GET") && !r.has("XX")
	case IntegerReply:
		return reply.Int != 0
	case FailureReply:
		return false
	}
	return true
}

// has tells of a SET that it has an option.
func (r *Request) has(option string) bool {
	return len(r.Args) > 3 && slices.Contains(r.Args[3:], option)
}
