package conf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Secret is a password. Printing it in any way says only whether there is one;
// string(s) is the password itself.
type Secret string

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

// maxSecretFile bounds what is read of a password file: somebody may name a
// log or a device by mistake.
const maxSecretFile = 4096

// readSecret reads a password file. One newline at the end, which every editor
// writes, is not part of the password.
func readSecret(path string) (Secret, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxSecretFile {
		return "", fmt.Errorf("%s is longer than %d bytes", path, maxSecretFile)
	}
	s := strings.TrimSuffix(string(b), "\n")
	s = strings.TrimSuffix(s, "\r")
	if s == "" {
		return "", errEmptySecret
	}
	return Secret(s), nil
}

var errEmptySecret = errors.New("the file is empty")
