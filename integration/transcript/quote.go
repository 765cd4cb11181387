package transcript

import (
	"fmt"
	"strconv"
	"strings"
)

// Split parts a line into words as redis-cli does.
func Split(line string) (words []string, err error) {
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return words, nil
		}
		var word string
		switch line[0] {
		case '"':
			word, line, err = doubleQuoted(line[1:])
		case '\'':
			var closed bool
			if word, line, closed = strings.Cut(line[1:], "'"); !closed {
				err = fmt.Errorf("a ' is not closed")
			}
		default:
			end := strings.IndexAny(line, " \t")
			if end < 0 {
				end = len(line)
			}
			word, line = line[:end], line[end:]
		}
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
}

func doubleQuoted(s string) (word, rest string, err error) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			word, err = Unescape(s[:i])
			return word, s[i+1:], err
		}
	}
	return "", "", fmt.Errorf("a \" is not closed")
}

// Unescape resolves \n \r \t \\ \" and \xHH.
func Unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", fmt.Errorf(`a \ at the end of %q`, s)
		}
		if j := strings.IndexByte(`nrt\"`, s[i]); j >= 0 {
			b.WriteByte("\n\r\t\\\""[j])
			continue
		}
		if s[i] != 'x' || i+2 >= len(s) {
			return "", fmt.Errorf(`%q has an unknown escape`, s)
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf(`%q has an unknown escape`, s)
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), nil
}

// Escape is how a line reads in a file.
func Escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case strings.IndexByte("\n\r\t\\", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(`nrt\`[strings.IndexByte("\n\r\t\\", c)])
		case c < ' ' || c > '~' || c == ' ' && i == len(s)-1:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
