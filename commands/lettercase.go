package commands

import "strings"

// Words are compared byte by byte in any case of the ASCII letters, as in Redis:
// strings.EqualFold and strings.ToLower would take the Kelvin sign for a K.

// sameWord tells whether a and b differ in case alone.
func sameWord(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lowerByte(a[i]) != lowerByte(b[i]) {
			return false
		}
	}
	return true
}

// lower is s in lower case.
func lower(s string) string {
	for i := range len(s) {
		if s[i] != lowerByte(s[i]) {
			b := []byte(s)
			for i := range b {
				b[i] = lowerByte(b[i])
			}
			return string(b)
		}
	}
	return s
}

func lowerByte(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// hasWord tells whether a word is among those that one space separates.
func hasWord(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}
