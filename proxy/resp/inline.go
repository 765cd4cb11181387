package resp

import (
	"bytes"
	"strings"
)

// splitInline takes an inline command apart as Redis does: arguments between
// white space, "double quotes" with \n \r \t \b \a \xHH and \ before anything
// else, 'single quotes' with \' only. ok is false where quotes do not end, or
// are followed by something other than white space.
func splitInline(line []byte) (args []string, ok bool) {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	for {
		line = bytes.TrimLeft(line, " \n\r\t\v\f")
		if len(line) == 0 {
			return args, true
		}
		var arg string
		if arg, line, ok = inlineArg(line); !ok {
			return nil, false
		}
		args = append(args, arg)
	}
}

func inlineArg(line []byte) (arg string, rest []byte, ok bool) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ', '\n', '\r', '\t':
			return b.String(), line[i:], true
		case '"':
			return closeQuote(&b, line[i+1:], doubleQuoted)
		case '\'':
			return closeQuote(&b, line[i+1:], singleQuoted)
		default:
			b.WriteByte(line[i])
		}
	}
	return b.String(), nil, true
}

// closeQuote reads up to the quote that ends the argument; take reads one
// character and says how many bytes it had, none at the quote.
func closeQuote(b *strings.Builder, line []byte, take func([]byte) (byte, int)) (string, []byte, bool) {
	for len(line) > 0 {
		char, n := take(line)
		if n == 0 {
			rest := line[1:]
			ended := len(rest) == 0 || bytes.IndexByte([]byte(" \n\r\t\v\f"), rest[0]) >= 0
			return b.String(), rest, ended
		}
		b.WriteByte(char)
		line = line[n:]
	}
	return "", nil, false
}

func singleQuoted(line []byte) (byte, int) {
	switch {
	case line[0] == '\'':
		return 0, 0
	case len(line) > 1 && line[0] == '\\' && line[1] == '\'':
		return '\'', 2
	}
	return line[0], 1
}

func doubleQuoted(line []byte) (byte, int) {
	switch {
	case line[0] == '"':
		return 0, 0
	case line[0] != '\\' || len(line) < 2:
		return line[0], 1
	}
	if len(line) >= 4 && line[1] == 'x' {
		high, ok1 := hexDigit(line[2])
		low, ok2 := hexDigit(line[3])
		if ok1 && ok2 {
			return high<<4 | low, 4
		}
	}
	switch line[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'a':
		return '\a', 2
	}
	return line[1], 2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
