package page

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is bytes that somebody else chose, a key say. In JSON it is escaped so that all of it can be
// seen and nothing of it acts: a backslash is \\, and each byte of what is not printable or no
// UTF-8 is \xHH, as is a space at the beginning, at the end or behind another. So two keys never
// look alike for what they hide, the direction of writing is not turned, and the bytes can be had
// again.
type Text string

// MarshalText implements encoding.TextMarshaler.
func (t Text) MarshalText() ([]byte, error) { return []byte(escaped(string(t))), nil }

const hexDigits = "0123456789abcdef"

func escaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && size == 1, !unicode.IsPrint(r), r == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' '):
			for _, c := range []byte(s[i : i+size]) {
				b.WriteString(`\x`)
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

var errEscape = errors.New(`in a key a backslash is written \\, and a byte \xHH`)

// unescaped is the bytes of what escaped has made of them. What needed no escape may be as it is.
func unescaped(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if strings.HasPrefix(s[i+1:], `\`) {
			b.WriteByte('\\')
			i++
			continue
		}
		c, ok := hexByte(s[i:])
		if !ok {
			return "", errEscape
		}
		b.WriteByte(c)
		i += len(`\xHH`) - 1
	}
	return b.String(), nil
}

// pattern is what a Source is given for the pattern of somebody who sees keys escaped: \xHH is that
// byte, which stands for itself. All else is Redis's, in whose patterns \\ is a backslash, too.
func pattern(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c, ok := hexByte(s[i:]); ok {
			b.WriteByte('\\')
			b.WriteByte(c)
			i += len(`\xHH`) - 1
			continue
		}
		b.WriteByte(s[i])
		if s[i] == '\\' && i+1 < len(s) {
			i++
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// hexByte reads \xHH at the beginning of s.
func hexByte(s string) (c byte, ok bool) {
	if len(s) < len(`\xHH`) || s[0] != '\\' || s[1] != 'x' {
		return 0, false
	}
	high, low := strings.IndexByte(hexDigits, s[2]|0x20), strings.IndexByte(hexDigits, s[3]|0x20)
	if high < 0 || low < 0 {
		return 0, false
	}
	return byte(high<<4 | low), true
}
