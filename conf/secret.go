package conf

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Secret is a password. Printing it in any way says only whether there is one;
// string(s) is the password itself.
type Secret string

// String is (set) or (none).
func (s Secret) String() string {
	if s == "" {
		return "(none)"
	}
	return "(set)"
}

// Format keeps all verbs from showing the password, also %q, %x and %#v.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText keeps encoders from writing the password.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// secretIn is the password in a file. One newline at the end, which every editor
// writes, is not part of it.
func secretIn(b []byte) (Secret, error) {
	s := strings.TrimSuffix(string(b), "\n")
	s = strings.TrimSuffix(s, "\r")
	if s == "" {
		return "", errEmptySecret
	}
	return Secret(s), nil
}

var errEmptySecret = errors.New("the file is empty")
