package decide

import (
	"errors"
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

// Failure is an error that a master has answered with. Of a command that it does not know it
// tells the arguments as well, which may be a token.
func Failure(text string) Answer {
	if strings.HasPrefix(text, unknownCommand) {
		text, _, _ = strings.Cut(text, ", with args")
	}
	return Answer{Kind: quorum.FailureReply, Str: WithoutLua(text)}
}

// WithoutLua is the reply by which a master says why it does not carry out what a script
// asks for. Those before 7.0 put what Lua says around it:
//
//	ERR Error running script (call to f_0123): @user_script:1: @user_script: 1: -OOM command
//	not allowed
//
// or, where the script catches it, what is behind the first place.
func WithoutLua(text string) string {
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

// Err is the error that the master answered with, or nil.
func (a Answer) Err() error {
	if a.Kind != quorum.FailureReply {
		return nil
	}
	return errors.New(a.Str)
}

// Failed tells that the master answered with an error that begins with code.
func (a Answer) Failed(code string) bool {
	return a.Kind == quorum.FailureReply && strings.HasPrefix(a.Str, code)
}

// Aside tells that a master's error is about the master, not about the command:
// it says nothing of whether another master would do it, and a client is told
// NOQUORUM instead of it.
func (a Answer) Aside() bool {
	return a.Kind == quorum.FailureReply && (!a.Failed("ERR ") || a.Failed(unknownCommand)) && !a.Failed("WRONGTYPE")
}

// WrongType tells that the key holds something that is no string. Scripts put
// words of their own around the error, which differ between versions.
func (a Answer) WrongType() bool {
	return a.Kind == quorum.FailureReply && strings.Contains(a.Str, "WRONGTYPE ")
}

// NoSuchDatabase tells that the master has no database of the number that was to be selected.
func (a Answer) NoSuchDatabase() bool {
	return a.Kind == quorum.FailureReply && strings.Contains(a.Str, "DB index")
}

// RefusesToWrite tells that the master answers nothing but reads.
func (a Answer) RefusesToWrite() bool { return a.Failed("MISCONF ") || a.Failed("NOREPLICAS ") }

// Forbidden tells that the master knows no such command, or that our user may not use it, for
// that key at least.
func (a Answer) Forbidden() bool { return a.Failed("NOPERM ") || a.Failed(unknownCommand) }

const unknownCommand = "ERR unknown command"

// ForbidsKey tells that our user may not touch a key that was named, whatever the command.
// Versions say so in other words, and in others again where a script touches it.
func (a Answer) ForbidsKey() bool {
	return a.Failed("NOPERM ") && strings.Contains(a.Str, " to access ") || a.Kind == quorum.FailureReply && strings.Contains(a.Str, "can't access at least one of the keys")
}

// Bytes is how long the texts of an answer are.
func (a Answer) Bytes() int {
	n := len(a.Str)
	for _, e := range a.Elems {
		n += e.Bytes()
	}
	return n
}

// tooLong is what a master's guard (package master) puts in the place of a string that there is
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
