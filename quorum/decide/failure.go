package decide

import (
	"errors"
	"strconv"
	"strings"

	"redlock-proxy/quorum"
)

// What the errors say that masters answer: some are about the command, and some about the master,
// which says nothing of whether another one would carry it out.

// unknownCommand is what the error begins with.
const unknownCommand = "ERR unknown command"

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

// ForbidsKey tells that our user may not touch a key that was named, whatever the command.
// Versions say so in other words, and in others again where a script touches it.
func (a Answer) ForbidsKey() bool {
	return a.Failed("NOPERM ") && strings.Contains(a.Str, " to access ") || a.Kind == quorum.FailureReply && strings.Contains(a.Str, "can't access at least one of the keys")
}
