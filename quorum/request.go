package quorum

import "time"

// Kind says what is asked of the masters, and with it how their votes are
// counted.
type Kind uint8

const (
	// Acquire sets Key to Token if Key does not exist (SET key token NX PX).
	// Won and Contended are its outcomes; a split is undone and tried again.
	Acquire Kind = iota + 1

	// Release deletes Key if it holds Token (compare-and-delete). Won: it was
	// held and is free. Contended: a quorum did not hold it.
	Release

	// Extend sets the expiry of Key if it holds Token (compare-and-expire).
	// Contended: too many masters hold another value or none.
	Extend

	// Read asks for the value, the type and the remaining ttl of Key.
	// Won: the answer is known, also when it is that there is no such key.
	Read

	// Remove deletes Key whatever it holds (DEL, UNLINK). Won: a quorum held
	// it. Contended: no quorum did; what there was is gone all the same.
	Remove

	// Write carries out Args on every master. Won: a quorum gave the same
	// reply, which is Result.Reply.
	Write

	// Run carries out Script on every master, journaled, with Keys and Args.
	// Won: a quorum acted and gave the same reply. Contended: so many declined
	// with the same reply that no quorum could act; what others did is put back.
	// Result.Script is the reply in both cases.
	Run

	// Survey sends Args to every master as they are, or to the one that Only
	// names; of a SCAN with COUNT, which it may end sooner, see page.go. It has no Key. Won: a quorum answered, or that one did; what each
	// said is in Result.Answers. It waits for all masters as long as a decision
	// may take, and is never undone, owed or tried again.
	Survey
)

// Request is one thing a client asks of the masters: a pure value.
type Request struct {
	Kind Kind

	// DB is the database, from 0 to Databases-1. Any other than 0 has been
	// opened.
	DB int

	// Key is the locked resource. Every kind but Survey needs it.
	Key string

	// Token is the value that signs the lock: the one to set (Acquire) or to
	// compare with (Release, Extend).
	Token string

	// TTL is the lifetime the client asks for (Acquire, Extend, Write with
	// TTLArg). Zero means none: an Acquire without expiry, an Extend that
	// takes the expiry away (PERSIST). The engine adds the drift.
	TTL time.Duration

	// At, if not zero, stands for TTL: the lock is to end at this Unix time
	// in milliseconds, by the masters' clocks.
	At int64

	// ValueOnly says, of a Read, that neither type nor ttl is asked for (GET): a
	// key that is no string is then answered with a FailureReply.
	ValueOnly bool

	// TellsValue says, of an Acquire, that a refusal is to tell what is there (SET NX
	// GET). Where no quorum names one value the vote is split, and that is no refusal.
	TellsValue bool

	// Args is the command of a Write or a Survey as the masters get it, name
	// first. Name and options are in upper case: the engine compares them.
	Args []string

	// Only, of a Survey, is the one master that is asked, counted from 1. Zero
	// asks all.
	Only int

	// Script is the script of a Run, Keys are its keys, and Args its
	// arguments. Key is the first of Keys, if there are any.
	Script *Script
	Keys   []string

	// TTLArg is the index in Args that the engine fills with the padded ttl
	// in milliseconds; zero if the command has none.
	TTLArg int
}

// ReplyKind is the type of a master's reply to a Write.
type ReplyKind uint8

const (
	NilReply ReplyKind = iota + 1
	StatusReply
	IntegerReply
	BulkReply
	FailureReply // an error reply; Str is its text
	ArrayReply   // Elems; only of a Run or a Survey
)

// Reply is what one master answered to a Write, or what a quorum of them did.
type Reply struct {
	Kind ReplyKind
	Str  string
	Int  int64
}

// ScriptReply is what one master answered to a Run or a Survey, or what a quorum of
// them did.
type ScriptReply struct {
	Reply
	Elems []ScriptReply // of an ArrayReply

	// Line is the line of the script that the error in Reply happened at; 0 if
	// Reply is no such error.
	Line int

	left bool // Int is what is left of a ttl
}

// NoTTL is Result.TTL of a key without expiry.
const NoTTL time.Duration = -1

// Result is what the votes on one Request amount to.
type Result struct {
	Decision Decision

	// Exists, Type, Value and TTL answer a Read: whether a quorum holds one
	// value, its Redis type ("string", "hash", ...), the value if it is a
	// string, and what is left of its ttl, already reduced by the drift
	// (at least 1 ms), or NoTTL.
	// Of an Acquire that is Contended, Exists and Value tell the value that
	// was seen on a quorum, if there is one. Of a Read that is Split, a quorum may hold a
	// value, of this Type, and it is not known.
	Exists bool
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

	// Toiled tells of a Run that the script, a client's, took a master more than a thousand
	// steps, or all that it may: ten times what one for locks takes. Of an Unavailable it tells
	// that masters that were asked have not answered in time, which may be the script's doing.
	Toiled bool

	// Answers is what each master said to a Survey, in the order of the masters.
	Answers []Answer

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

	// Why says, where the decision is Unavailable or Split, what keeps the others; "" if
	// that is not known, or nothing does.
	Why string
}

// Answer is what one master said to a Survey.
type Answer struct {
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
