package decide

import (
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// ofAnotherType is what is kept where a string was asked for and is not there:
// Redis's own error.
var ofAnotherType = Said{typ: "another", Named: true, Reply: quorum.Reply{
	Kind: quorum.FailureReply, Str: "WRONGTYPE Operation against a key holding the wrong kind of value",
}}

// Said is what is kept of one master's answer until all that follows from the decision is done.
// Which fields count depends on the kind of the request.
type Said struct {
	Value  string // the value seen, removed or given another expiry; of a Survey, the server's run id
	typ    string // its type; "" if there is none
	Left   int64  // remaining ttl in milliseconds, or SaysNoTTL
	Named  bool   // value and type were told
	Absent bool   // there was no key
	Reply  quorum.Reply

	Journal *Journal // of a Run, and the reply to a Survey
}

// Refusal is what the master said of itself where it did not carry out what was asked; "" if
// it said nothing.
func (s *Said) Refusal() string {
	switch {
	case s.Journal != nil:
		return s.Journal.trouble()
	case s.Reply.Kind == quorum.FailureReply:
		return s.Reply.Str
	}
	return ""
}

// What the scripts answer where they do not answer a remaining ttl. The latter
// is what PTTL says: milliseconds, or -1 for a key without expiry.
const (
	SaysNoTTL  = -1
	SaysAbsent = -2 // there is no such key
	SaysOther  = -3 // it holds another value, or ends otherwise, than was named: it was left
	SaysLate   = -4 // what was asked is dated, and came too late
)

// near is a remaining ttl as a master tells it, or SaysNoTTL if it is far.
func near(left int64) int64 {
	if left > clock.FarFrom {
		return SaysNoTTL
	}
	return left
}

// SaysOtherNonce is what a script answers that only goes on under the nonce that it was given.
const SaysOtherNonce = -1

// foundOther tells that the command was bound, and was left.
func foundOther(a Answer) bool { return a.Kind == quorum.IntegerReply && a.Int == SaysOther }

// TooLate tells that the command was dated, and came too late: it did nothing.
func (a Answer) TooLate() bool { return a.Kind == quorum.IntegerReply && a.Int == SaysLate }
