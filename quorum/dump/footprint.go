package dump

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// Footprint stands for what a key held, so that masters can be compared. It is exact but for
// big hashes and sets, which each master dumps in an order of its own: of these it does
// not tell the order of anything. "" is an absent key.
func Footprint(dump string) string {
	switch c := body(dump); {
	case dump == "":
		return ""
	case dump[0] == 0:
		return Fingerprint(c)
	case c == "", len(c) > MaxFootprint:
		return "#"
	case c[0] != dumpedSet && c[0] != dumpedHash:
		sum := sha1.Sum([]byte(c))
		return fmt.Sprintf("#%d:%x", binary.LittleEndian.Uint16([]byte(dump[len(c):])), sum)
	default:
		version := binary.LittleEndian.Uint16([]byte(dump[len(c):]))
		sum, cubes := 0, 0
		for i := range len(c) {
			x := int(c[i])
			sum, cubes = sum+x, cubes+x*x*x
		}
		return fmt.Sprintf("#%d:%d:%d:%d", version, len(c), sum, cubes)
	}
}

// MaxFootprint is how long a dump is read for it.
const MaxFootprint = 64 << 10

// SameFootprint tells that two masters may have held the same. Where they are of
// different versions, that is known of strings alone.
func SameFootprint(a, b string) bool {
	if a == b || a == "#" && strings.HasPrefix(b, "#") || b == "#" && strings.HasPrefix(a, "#") {
		return true
	}
	v, _, _ := strings.Cut(a, ":")
	w, _, _ := strings.Cut(b, ":")
	return strings.HasPrefix(a, "#") && strings.HasPrefix(b, "#") && v != w
}

// Fingerprint stands for a dump: itself if it is short, else its hash, in hexadecimal.
func Fingerprint(dump string) string {
	if len(dump) <= 100 {
		return dump
	}
	sum := sha1.Sum([]byte(dump))
	return hex.EncodeToString(sum[:])
}
