package quorum

import (
	"slices"
	"strings"
	"time"
)

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
	// names. A SCAN with COUNT it may end sooner, see master.PageScript. It has no Key.
	// Won: a quorum answered, or that one did; what each said is in Result.Answers. It
	// waits for all masters as long as a decision may take, and is never undone, owed or
	// tried again.
	Survey
)

// String is what INFO and the metrics call it.
func (k Kind) String() string {
	switch k {
	case Acquire:
		return "acquire"
	case Release:
		return "release"
	case Extend:
		return "extend"
	case Read:
		return "read"
	case Remove:
		return "remove"
	case Write:
		return "write"
	case Run:
		return "script"
	case Survey:
		return "survey"
	}
	return "unknown"
}

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

	// Far, if not zero, stands for TTL, which is none then: more milliseconds than are counted here,
	// see clock.Far.
	Far int64

	// ValueOnly says, of a Read, that neither type nor ttl is asked for (GET): a
	// key that is no string is then answered with a FailureReply. It says nothing of whether
	// a ttl is over, see Counted.
	ValueOnly bool

	// Counted, of a Read, is what is known of the ttl that the key may have.
	Counted Counted

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

	// Tracked says, of what reads, that Result.Alike is asked for.
	Tracked bool

	// Spares says that Result.Spared is asked for.
	Spares bool

	// GivesBack says that what a request was granted is given back, of which nobody was told. It waits
	// for its turn however long that takes, and is carried out also by an engine that takes no others any more.
	GivesBack bool

	// Again is the try before, of an exact step: it is not put to masters that may have done it then. It is nil the first
	// time.
	Again Tried

	// Trace is where the engine notes how the request fared, nil if nobody wants to know.
	Trace *Trace
}

// Counted is a ttl as the client counts it that has asked for it: so long, and how much of that is
// left, which is less than zero when it is over. The zero value is of one that is not known. Sign is
// that of the string that was given the ttl, see registry.SignOf; 0 if that is not known.
type Counted struct {
	TTL, Left time.Duration
	Sign      uint64
}

// Undecides tells of a request that it may wait behind an acquire in flight, or may be
// undone and tried again: whoever asked must put no more about its keys before it is
// answered. Of writes it is those that change the life of whatever is there.
func (r *Request) Undecides() bool {
	return r.Kind == Acquire || r.Kind == Run || r.Kind == Extend || r.Kind == Write && r.Args[0] != "SET"
}

// Flushes tells that the request is a FLUSHDB or FLUSHALL.
func (r *Request) Flushes() bool { return r.Kind == Survey && strings.HasPrefix(r.Args[0], "FLUSH") }

// TellsValueOnly tells that an answer is of no more use once it was told to the client: there
// is nothing to be put back by it.
func (r *Request) TellsValueOnly() bool { return r.Kind == Read || r.Kind == Acquire }

// Bytes is how long a request is, but for what is short anyway.
func (r *Request) Bytes() int {
	n := len(r.Key) + len(r.Token)
	for _, arg := range r.Args {
		n += len(arg)
	}
	for _, key := range r.Keys {
		n += len(key)
	}
	return n
}

// Scans tells that the request is a client's SCAN: of a cursor, with COUNT.
func (r *Request) Scans() bool {
	return r.Kind == Survey && r.Args[0] == "SCAN" && len(r.Args) >= 4 && r.Args[2] == "COUNT"
}

// Has tells of a SET that it has an option.
func (r *Request) Has(option string) bool {
	return len(r.Args) > 3 && slices.Contains(r.Args[3:], option)
}
