package marker

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NonceLength is how many bytes at the beginning of a marker tell one admission,
// or one quarantine, from the next. A batch's proof reads no more than these.
const (
	NonceLength = 17
	LastOfNonce = "16" // GETRANGE counts from 0
)

// Nonce begins with 'v' in a marker that lets its master vote, and with 'q' in a
// provisional one; 16 random hexadecimal digits follow.
type Nonce string

// NewNonce draws a nonce, of a provisional marker or of one that lets its master vote.
func NewNonce(provisional bool) Nonce {
	var b [8]byte
	rand.Read(b[:]) // never fails
	kind := "v"
	if provisional {
		kind = "q"
	}
	return Nonce(kind + hex.EncodeToString(b[:]))
}

// Provisional tells that the master is quarantined under this nonce.
func (n Nonce) Provisional() bool { return strings.HasPrefix(string(n), "q") }

// Valid tells that it is a nonce by its form.
func (n Nonce) Valid() bool {
	if len(n) != NonceLength || n[0] != 'v' && n[0] != 'q' {
		return false
	}
	_, err := hex.DecodeString(string(n[1:]))
	return err == nil
}

// NonceOf is the nonce that a text on a master begins with, whatever else it is.
func NonceOf(text string) Nonce { return Nonce(text[:min(len(text), NonceLength)]) }

// AnyNonce stands in the text of a marker for the nonce that it replaces.
const AnyNonce = Nonce("@")

// NewInstallation draws a name that nothing else has: of an installation, of a step, or of a run.
func NewInstallation() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
