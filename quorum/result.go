package quorum

import "time"

// NoTTL is Result.TTL of a key without expiry.
const NoTTL time.Duration = -1

// SameTTL is Result.TTL of a Run that has left the ttl of its key as it was.
const SameTTL time.Duration = -2

// Result is what the votes on one Request amount to.
type Result struct {
	Decision Decision

	// Exists, Type, Value and TTL answer a Read: whether a quorum holds one
	// value, its Redis type ("string", "hash", ...), the value if it is a
	// string, and what is left of its ttl as its client counts it (at least 1 ms), or NoTTL. What
	// masters hold only for the clocks' allowance does not exist, where that is known.
	// Of a Run that is Won, TTL is what it has given Key, or NoTTL, or SameTTL; 0 where that is
	// not known.
	// Of an Acquire that is Contended, Exists and Value tell the value that
	// was seen on a quorum, if there is one. Of a Read that is Split, a quorum may hold a
	// value, of this Type, and it is not known.
	// Far, if not zero, are the milliseconds of a ttl that is too long to be counted, TTL being NoTTL.
	Exists bool
	Far    int64
	Type   string
	Value  string
	TTL    time.Duration

	// Lock, of an Acquire that is Won, is for who may have to take it back. Whoever gets
	// it says what has become of it, by Told or TakeBack; what is not said of costs memory.
	Lock Lock

	// Absent tells, of a Release or Extend that is Contended, that the
	// masters that said no mostly had no such key, rather than another value.
	Absent bool

	// Reply is what a quorum answered to a Write. Its Kind is FailureReply where a
	// quorum refused the command with one and the same error; this is also how
	// a key of the wrong type shows in any other Kind, Won or Contended.
	Reply Reply

	// Script is the reply to a Run, nil if there is none.
	Script *ScriptReply

	// Others are the keys that a Run was not given and has written to, on whatever master, as far
	// as that is known.
	Others []string

	// Tidied tells of a Run that masters who declined have removed something, which stays so.
	Tidied bool

	// Spared, of a Write, Remove or Run that Spares and is Won, are the keys that it was given and is not known to have changed.
	Spared []string

	// Toiled tells of a Run that the script, a client's, took a master more than a thousand
	// steps, or all that it may: ten times what one for locks takes. Of an Unavailable it tells
	// that masters that were asked have not answered in time, which may be the script's doing.
	Toiled bool

	// Answers is what each master said to a Survey, in the order of the masters.
	Answers []SurveyAnswer

	// Shortest, if not zero, tells of an Acquire or Extend that is Unavailable that its
	// ttl was over too soon, and which one is long enough. A quorum of masters votes.
	Shortest time.Duration

	// NoTime tells, of an Unavailable, that no quorum of the masters' clocks agrees on
	// the time of day, by which At is to be understood.
	NoTime bool

	// Voted, Needed and Masters are the numbers of NOQUORUM: how many masters
	// voted, or where the decision is Unavailable how many can at this moment, the
	// quorum, and how many are configured.
	Voted, Needed, Masters int

	// Votes are those by which it was decided; none of an answer that rests on another
	// client's, or on no master's.
	Votes Votes

	// Alike, of a Read or Run that is Tracked and was answered, are the masters that have said what is told, the first
	// as the lowest bit: where they are a quorum, nothing else can be told until one of them changes.
	Alike uint16

	// Tried is what was put to the masters of a step that was not won: it is Again where that is put once more. It is nil if
	// none was asked.
	Tried Tried

	// Why says, where the decision is Unavailable or Split, what keeps the others; "" if
	// that is not known, or nothing does.
	Why string
}

// Tried is a step that was not won.
type Tried interface {
	// MayHaveDone are the masters that may have done it, as of now, the first as the lowest bit. They become fewer, as those
	// who are late tell, or have taken it back.
	MayHaveDone() uint16
}

// SurveyAnswer is what one master said to a Survey.
type SurveyAnswer struct {
	// Given tells that there is one: the master was asked and answered in time.
	Given bool

	// Server is the run id of the process that answered.
	Server string

	// Reply is the reply as RESP2 has it, status replies being bulk strings.
	Reply ScriptReply
}

// Asker is told what was decided, by the goroutine that cast the deciding vote.
// It must neither block nor call the engine's Close; it may put further requests.
type Asker interface {
	// Answer is called exactly once for each Request put. The asker is not used
	// again after it; what it returns is flushed.
	Answer(Result) Flusher
}

// Flusher sends what answers have gathered. Askers that share one share its
// flushes: it is a pointer, or can be compared otherwise.
type Flusher interface {
	// Flush is called after a batch of answers, by the goroutine that gave the
	// last of them. It must not block, and may find nothing to send.
	Flush()
}
