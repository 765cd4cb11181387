package quorum

import (
	"slices"
	"strconv"
	"strings"
)

// ReplyKind is the type of a master's reply to a Write.
type ReplyKind uint8

const (
	NilReply     ReplyKind = iota + 1
	StatusReply            // a word: Str, as OK
	IntegerReply           // Int
	BulkReply              // a string: Str
	FailureReply           // an error reply; Str is its text
	ArrayReply             // Elems; only of a Run or a Survey
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

	Left bool // Int is what is left of a ttl
}

// Sort puts the members of a set (letter '~'), or the names and values of a map ('%'), into the
// order of their bytes. Of any other array the order is its own.
func (r *ScriptReply) Sort(letter byte) {
	byText := func(a, b ScriptReply) int { return strings.Compare(a.Str, b.Str) }
	switch {
	case letter == '~':
		slices.SortFunc(r.Elems, byText)
	case letter == '%' && len(r.Elems)%2 == 0:
		pairs := slices.Collect(slices.Chunk(slices.Clone(r.Elems), 2))
		slices.SortFunc(pairs, func(a, b []ScriptReply) int { return byText(a[0], b[0]) })
		r.Elems = slices.Concat(pairs...)
	}
}

// SaysNo tells that a reply is a script's no.
func (r *ScriptReply) SaysNo() bool {
	return r.Kind == NilReply || r.Kind == IntegerReply && r.Int == 0
}

// Alike tells that two masters gave the same reply: what is left of a ttl may
// differ, since their clocks do.
func (r *ScriptReply) Alike(s *ScriptReply) bool {
	if r.Kind != s.Kind || r.Str != s.Str || len(r.Elems) != len(s.Elems) {
		return false
	}
	if r.Int != s.Int && !(r.Left && s.Left) {
		return false
	}
	for i := range r.Elems {
		if !r.Elems[i].Alike(&s.Elems[i]) {
			return false
		}
	}
	return true
}

// SaysAs tells that a client is told the same by two replies, be it in two types: libraries make
// one word of a status, a string and a number.
func (r *ScriptReply) SaysAs(s *ScriptReply) bool {
	if r.Left && s.Left {
		return true
	}
	word, scalar := r.Word()
	if other, too := s.Word(); word != other || scalar != too || !scalar && r.Kind != s.Kind || len(r.Elems) != len(s.Elems) {
		return false
	}
	for i := range r.Elems {
		if !r.Elems[i].SaysAs(&s.Elems[i]) {
			return false
		}
	}
	return true
}

// Word is what a reply says, of whatever type it is; nil and a list say none.
func (r *ScriptReply) Word() (word string, ok bool) {
	switch r.Kind {
	case NilReply, ArrayReply:
		return "", false
	case IntegerReply:
		return strconv.FormatInt(r.Int, 10), true
	default:
		return r.Str, true
	}
}

// TellsLeft tells that what is left of a ttl is the reply, or part of it.
func (r *ScriptReply) TellsLeft() bool {
	return r.Left || slices.ContainsFunc(r.Elems, func(e ScriptReply) bool { return e.TellsLeft() })
}
