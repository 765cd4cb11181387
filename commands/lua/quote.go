package lua

import (
	"fmt"
	"strings"
)

// This file reads strings in their three spellings, and writes them in one.

// escapes are those that stand for another character.
var escapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

func (l *lexer) quoted() string {
	quote := l.take(1)
	var value strings.Builder
	for l.err == nil {
		switch c := l.peek(0); {
		case l.at == len(l.text):
			l.fail("unfinished string", "<eof>")
		case isLineEnd(c):
			l.fail("unfinished string", quote+value.String())
		case c == quote[0]:
			l.at++
			return value.String()
		case c == '\\':
			l.at++
			l.escape(&value, quote)
		default:
			l.at++
			value.WriteByte(c)
		}
	}
	return ""
}

// escape takes what is behind a backslash. A letter that is no escape is itself.
func (l *lexer) escape(value *strings.Builder, quote string) {
	c := l.peek(0)
	switch {
	case l.at == len(l.text): // Which ends the string, too.
	case isLineEnd(c):
		l.newline()
		value.WriteByte('\n')
	case isDigit(c):
		code := 0
		for n := 0; n < 3 && isDigit(l.peek(0)); n++ {
			code = code*10 + int(l.take(1)[0]-'0')
		}
		if code > 255 {
			l.fail("escape sequence too large", quote+value.String())
		}
		value.WriteByte(byte(code))
	default:
		l.at++
		if other, ok := escapes[c]; ok {
			c = other
		}
		value.WriteByte(c)
	}
}

// bracket is the length of the long bracket that s begins with: [[, [=[, [==[ and so
// on; 0 if there is none.
func bracket(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	n := 1
	for n < len(s) && s[n] == '=' {
		n++
	}
	if n == len(s) || s[n] != '[' {
		return 0
	}
	return n + 1
}

// long takes a long string, or a long comment behind its dashes. Its line ends are \n,
// and one at its start is no part of it.
func (l *lexer) long(what string) string {
	open := l.take(bracket(l.text[l.at:]))
	rest := l.text[l.at:]
	length := strings.Index(rest, strings.ReplaceAll(open, "[", "]"))
	if length >= 0 {
		rest = rest[:length]
	}
	// Lua 5.1 refuses [[ inside [[ ]], but some are built so that they do not.
	if nested := strings.Index(rest, "[["); nested >= 0 && open == "[[" {
		l.content(nested)
		l.fail("nesting of [[...]] is deprecated", "[")
		return ""
	}
	value := l.content(len(rest))
	if length < 0 {
		l.fail("unfinished long "+what, "<eof>")
		return ""
	}
	l.take(len(open))
	return value
}

func (l *lexer) content(length int) string {
	end := l.at + length
	var value strings.Builder
	for at := l.at; l.at < end; {
		switch first := l.at == at; {
		case !isLineEnd(l.text[l.at]):
			value.WriteByte(l.take(1)[0])
		case first:
			l.newline()
		default:
			l.newline()
			value.WriteByte('\n')
		}
	}
	return value.String()
}

// quote spells a string so that every Lua reads it alike, on one line, and so that
// nothing of it can be taken for anything else.
func quote(s string) string {
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = fmt.Appendf(b, `\%03d`, c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// isName tells whether a string can stand behind a dot.
func isName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return true
}
