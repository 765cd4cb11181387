package commands

import "strings"

// This file cuts a script into the tokens of Lua 5.1, for luasyntax.go.
//
// It is stricter than Lua and never laxer: what Lua would not compile, or what
// two versions of Lua read differently, is no token here.

type luaTokenKind uint8

const (
	luaName luaTokenKind = iota + 1 // also the reserved words
	luaNumber
	luaString // text is the string's value, not its spelling
	luaSymbol
	luaEnd
)

type luaToken struct {
	kind luaTokenKind
	text string
}

// luaTokens returns the tokens of a script with a luaEnd behind them, or
// false if some of it is none that lock scripts need.
func luaTokens(text string) ([]luaToken, bool) {
	// A NUL, and a carriage return alone, end things in some Luas and not in others.
	if strings.Contains(text, "\x00") || strings.Count(text, "\r") != strings.Count(text, "\r\n") {
		return nil, false
	}
	l := luaLexer{rest: text}
	tokens := make([]luaToken, 0, 64)
	for {
		token, ok := l.next()
		if !ok {
			return nil, false
		}
		tokens = append(tokens, token)
		if token.kind == luaEnd {
			return tokens, true
		}
	}
}

type luaLexer struct{ rest string }

func (l *luaLexer) next() (luaToken, bool) {
	if !l.skip() {
		return luaToken{}, false
	}
	if l.rest == "" {
		return luaToken{kind: luaEnd}, true
	}
	switch c := l.rest[0]; {
	case luaLetter(c):
		n := 1
		for n < len(l.rest) && (luaLetter(l.rest[n]) || luaDigit(l.rest[n])) {
			n++
		}
		return luaToken{luaName, l.take(n)}, true
	case luaDigit(c):
		return l.number()
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '[' && luaBracket(l.rest) > 0:
		s, ok := l.long()
		return luaToken{luaString, s}, ok
	}
	for _, symbol := range [...]string{"==", "~=", "<=", ">="} {
		if strings.HasPrefix(l.rest, symbol) {
			return luaToken{luaSymbol, l.take(2)}, true
		}
	}
	if strings.IndexByte("<>=()[]{}.,;+-", l.rest[0]) >= 0 {
		return luaToken{luaSymbol, l.take(1)}, true
	}
	return luaToken{}, false
}

func (l *luaLexer) take(n int) string {
	s := l.rest[:n]
	l.rest = l.rest[n:]
	return s
}

// skip leaves white space and comments behind.
func (l *luaLexer) skip() bool {
	for {
		l.rest = strings.TrimLeft(l.rest, " \t\r\n")
		if !strings.HasPrefix(l.rest, "--") {
			return true
		}
		l.take(2)
		if luaBracket(l.rest) > 0 {
			if _, ok := l.long(); !ok {
				return false
			}
		} else if end := strings.IndexAny(l.rest, "\r\n"); end >= 0 {
			l.take(end)
		} else {
			l.rest = ""
		}
	}
}

// number takes a whole number in decimal. Fractions, exponents and
// hexadecimal have no use in a lock script.
func (l *luaLexer) number() (luaToken, bool) {
	n := 1
	for n < len(l.rest) && luaDigit(l.rest[n]) {
		n++
	}
	// Up to 15 digits are exact in Lua's doubles.
	if n > 15 || n < len(l.rest) && (luaLetter(l.rest[n]) || l.rest[n] == '.') {
		return luaToken{}, false
	}
	return luaToken{luaNumber, l.take(n)}, true
}

// luaEscapes are the escapes that mean the same in every Lua.
const luaEscapes = "a\ab\bf\fn\nr\rt\tv\v\\\\\"\"''"

func (l *luaLexer) quoted(quote byte) (luaToken, bool) {
	l.take(1)
	var value []byte
	for l.rest != "" {
		c := l.take(1)[0]
		switch {
		case c == quote:
			return luaToken{luaString, string(value)}, true
		case c == '\r' || c == '\n':
			return luaToken{}, false
		case c != '\\':
			value = append(value, c)
		case l.rest == "":
			return luaToken{}, false
		case luaDigit(l.rest[0]):
			code := 0
			for n := 0; n < 3 && l.rest != "" && luaDigit(l.rest[0]); n++ {
				code = code*10 + int(l.take(1)[0]-'0')
			}
			if code > 255 {
				return luaToken{}, false
			}
			value = append(value, byte(code))
		default:
			c = l.take(1)[0]
			n := 0
			for n < len(luaEscapes) && luaEscapes[n] != c {
				n += 2
			}
			if n >= len(luaEscapes) {
				return luaToken{}, false
			}
			value = append(value, luaEscapes[n+1])
		}
	}
	return luaToken{}, false
}

// luaBracket returns the length of the long bracket that s begins with:
// [[, [=[, [==[ and so on; 0 if there is none.
func luaBracket(s string) int {
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

// long takes a long string, or a long comment whose dashes are taken.
func (l *luaLexer) long() (string, bool) {
	open := l.take(luaBracket(l.rest))
	end := strings.Index(l.rest, strings.ReplaceAll(open, "[", "]"))
	if end < 0 {
		return "", false
	}
	value := l.take(end)
	l.take(len(open))
	// Lua 5.1 refuses [[ inside [[ ]], and turns every kind of line end into \n.
	if strings.Contains(value, "\r") || open == "[[" && strings.Contains(value, "[[") {
		return "", false
	}
	return strings.TrimPrefix(value, "\n"), true
}

func luaLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func luaDigit(c byte) bool { return '0' <= c && c <= '9' }
