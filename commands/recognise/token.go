package recognise

import (
	"strings"

	"redlock-proxy/commands/lua"
)

// This file cuts a script into the tokens of Lua 5.1, for syntax.go.
//
// It is stricter than Lua and never laxer: what Lua would not compile, or what
// two versions of Lua read differently, is no token here.

// tokensOf returns the tokens of a script with a lua.End behind them, or
// false if some of it is none that lock scripts need.
func tokensOf(text string) ([]lua.Token, bool) {
	// A NUL, and a carriage return alone, end things in some Luas and not in others.
	if strings.ContainsAny(text, "\x00\v\f") || strings.Count(text, "\r") != strings.Count(text, "\r\n") {
		return nil, false
	}
	tokens, err := lua.Lex(text)
	if err != nil {
		return nil, false
	}
	for _, t := range tokens {
		if t.Kind == lua.Number && !isWhole(t.Text) || t.Kind == lua.String && !isPlain(t.Source) {
			return nil, false
		}
	}
	return tokens, true
}

// isWhole tells whether a number is a whole one in decimal. Fractions, exponents and
// hexadecimal have no use in a lock script. Up to 15 digits are exact in Lua's doubles.
func isWhole(number string) bool {
	return len(number) <= 15 && strings.Trim(number, "0123456789") == ""
}

// plainEscapes are the escapes that mean the same in every Lua, beside those by number.
const plainEscapes = `abfnrtv\"'0123456789`

// isPlain tells whether every Lua reads a string alike: of an escape that they do not know
// some make the letter, and of line ends in long brackets 5.1 makes \n.
func isPlain(source string) bool {
	if source[0] == '[' {
		return !strings.Contains(source, "\r")
	}
	for {
		_, behind, escape := strings.Cut(source, `\`)
		if !escape {
			return true
		}
		if strings.IndexByte(plainEscapes, behind[0]) < 0 {
			return false
		}
		source = behind[1:]
	}
}
