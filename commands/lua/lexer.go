package lua

import (
	"regexp"
	"strings"
)

// The bounds of a text, which are far above any lock script's.
const (
	maxText   = 64 << 10 // bytes
	maxTokens = 20_000

	maxName      = 255   // bytes: Lua's errors tell names, whole
	maxDifferent = 2_000 // names, strings and numbers, since a text may have them collide in Lua's tables
)

// Lex cuts a text into the tokens of Lua 5.1, of which the last is an End. An error is
// an *Error; the tokens that stand before it come with it.
func Lex(text string) ([]Token, error) {
	l := lexer{text: text, line: 1}
	if len(text) > maxText {
		l.text = ""
		l.failPlainly(textTooLong)
	}
	// To Lua's functions in C a NUL is an end, and to others not.
	nul := strings.IndexByte(text, 0)
	if nul >= 0 && l.err == nil {
		l.text = text[:nul]
	}
	var tokens []Token
	different := map[string]struct{}{}
	for {
		l.skip()
		at := l.at
		kind, value := l.token()
		if kind == End && nul >= 0 && l.err == nil {
			l.failPlainly(nulInText)
		}
		if len(tokens) == maxTokens {
			l.failPlainly(tooManyTokens)
		}
		if kind == Name && len(value) > maxName {
			l.failPlainly(nameTooLong)
		}
		if kind == Name || kind == String || kind == Number {
			if different[value] = struct{}{}; len(different) > maxDifferent {
				l.failPlainly(tooManyDifferent)
			}
		}
		if l.err != nil {
			return append(tokens, Token{Kind: End, Line: l.line}), l.err
		}
		tokens = append(tokens, Token{kind, value, l.text[at:l.at], l.line})
		if kind == End {
			return tokens, nil
		}
	}
}

// lexer is where in a text one is. Once there is an err it is of no use any more.
type lexer struct {
	text string
	at   int
	line int
	err  error
}

// peek is the byte n ahead, 0 behind the end: there is no NUL in the text.
func (l *lexer) peek(n int) byte {
	if l.at+n >= len(l.text) {
		return 0
	}
	return l.text[l.at+n]
}

func (l *lexer) take(n int) string {
	l.at += n
	return l.text[l.at-n : l.at]
}

// newline takes a line end. \r\n and \n\r are one, as to Lua.
func (l *lexer) newline() {
	c := l.take(1)[0]
	if next := l.peek(0); isLineEnd(next) && next != c {
		l.at++
	}
	l.line++
}

// skip leaves white space and comments behind.
func (l *lexer) skip() {
	for l.err == nil {
		switch c := l.peek(0); {
		case isLineEnd(c):
			l.newline()
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			l.at++
		case c == '-' && l.peek(1) == '-':
			l.take(2)
			if bracket(l.text[l.at:]) > 0 {
				l.long("comment")
			} else if end := strings.IndexAny(l.text[l.at:], "\r\n"); end >= 0 {
				l.take(end)
			} else {
				l.at = len(l.text)
			}
		default:
			return
		}
	}
}

func (l *lexer) token() (Kind, string) {
	c := l.peek(0)
	switch {
	case l.at == len(l.text):
		return End, ""
	case isLetter(c):
		n := 1
		for isLetter(l.peek(n)) || isDigit(l.peek(n)) {
			n++
		}
		if name := l.take(n); !keywords[name] {
			return Name, name
		} else {
			return Keyword, name
		}
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		return Number, l.number()
	case c == '"' || c == '\'':
		return String, l.quoted()
	case bracket(l.text[l.at:]) > 0:
		return String, l.long("string")
	case c == '[' && l.peek(1) == '=':
		rest := l.text[l.at+1:]
		l.fail("invalid long string delimiter", "["+rest[:len(rest)-len(strings.TrimLeft(rest, "="))])
	}
	for _, symbol := range [...]string{"...", "..", "==", "~=", "<=", ">="} {
		if strings.HasPrefix(l.text[l.at:], symbol) {
			return Symbol, l.take(len(symbol))
		}
	}
	return Symbol, l.take(1)
}

// numeral is what every build of Lua reads as the same number: a decimal, or a
// hexadecimal that a double holds exactly. It is part of what is printed as it is.
var numeral = regexp.MustCompile(`^(0[xX][0-9a-fA-F]{1,13}|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)$`)

// number takes what Lua takes for one before it looks whether it is.
func (l *lexer) number() string {
	n := 0
	for isDigit(l.peek(n)) || l.peek(n) == '.' {
		n++
	}
	if c := l.peek(n); c == 'e' || c == 'E' {
		if n++; l.peek(n) == '+' || l.peek(n) == '-' {
			n++
		}
	}
	for isLetter(l.peek(n)) || isDigit(l.peek(n)) {
		n++
	}
	text := l.take(n)
	if !numeral.MatchString(text) {
		l.fail("malformed number", text)
	}
	return text
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }
func isDigit(c byte) bool   { return '0' <= c && c <= '9' }
func isControl(c byte) bool { return c < ' ' || c == 0x7f }
func isLetter(c byte) bool  { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
