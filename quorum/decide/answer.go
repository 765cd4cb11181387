package decide

import (
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// MaxElems is how many elements an array may have that a master answers with, but for a survey's.
const MaxElems = 4096

// Answer is one reply of a master to one command, as it was read. A status reply is a BulkReply,
// too.
type Answer struct {
	Kind  quorum.ReplyKind
	Str   string
	Int   int64
	Elems []Answer // of an ArrayReply
}

// reply is the answer in the words of a Result, but for what is in an array.
func (a Answer) reply() quorum.Reply { return quorum.Reply{Kind: a.Kind, Str: a.Str, Int: a.Int} }

// Bytes is how long the texts of an answer are.
func (a Answer) Bytes() int {
	n := len(a.Str)
	for _, e := range a.Elems {
		n += e.Bytes()
	}
	return n
}

// tooLong is what a master's framedConn (package master) puts in the place of a string that there is
// no room for; its length in bytes follows. A master that says so itself is believed: it has not
// answered.
const (
	tooLong    = "TOOLONG "
	tooLongEnd = " bytes are more than there is room for"
)

// SaysTooLong is the text of the error that stands in the place of n bytes; LeftOut reads it.
func SaysTooLong(n int) string { return tooLong + strconv.Itoa(n) + tooLongEnd }

// LeftOut is how long a string is that was left out of the answer, 0 if there is none.
func (a *Answer) LeftOut() int {
	if text, ok := strings.CutPrefix(a.Str, tooLong); ok && a.Kind == quorum.FailureReply {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, tooLongEnd)); err == nil {
			return max(n, 1)
		}
	}
	for i := range a.Elems {
		if n := a.Elems[i].LeftOut(); n > 0 {
			return n
		}
	}
	return 0
}
