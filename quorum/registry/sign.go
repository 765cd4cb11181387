package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Sign is a hash of what a lock's value says of its holder: of a token, or of an argument of the
// script that made it. It is the same in every proxy, so that they can tell each other.
type Sign uint64

// SignOf is the sign of a token; no sign is 0.
func SignOf(token string) Sign {
	if s := Sign(xxhash.Sum64String(token)); s != 0 {
		return s
	}
	return 1
}

// Fingerprint is what people are shown in place of a token, and name the holder of a lock by. What
// has several parts, as a hash has, is the same in whatever order they come.
func Fingerprint(parts ...string) string {
	if len(parts) > 1 {
		parts = slices.Sorted(slices.Values(parts))
	}
	h := sha256.New()
	for i, part := range parts {
		if i > 0 {
			h.Write([]byte{0})
		}
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
