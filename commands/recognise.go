package commands

import (
	"time"

	"redlock-proxy/quorum"
)

// shape is what a recognised script comes to: one Release or Extend of one key.
//
// key is a 1-based index into KEYS; token, ttl and additive are 1-based
// indexes into ARGV. A call that does not give all that the shape names is
// not the call that was recognised.
type shape struct {
	class quorum.Kind // Release or Extend

	key, token int

	ttl      int           // the argument that holds the ttl, 0 if none
	unit     time.Duration // of the ttl argument
	absolute bool          // the ttl argument is a Unix time in that unit

	additive  int  // the argument that is "0" when the ttl is to be added to what is left, 0 if none
	needsTTL  bool // answers other if the key has no expiry
	orPersist bool // a ttl argument of 0 or less takes the expiry away
	greater   bool // never shortens what is left, which is still a yes

	// What the client's script would have answered: when it acted, when the
	// key holds another value, when there is no such key.
	yes, other, absent Reply
}

// recognise tells what a script comes to, if it is exactly one
// compare-and-delete or one compare-and-expire of one key. Whatever else the
// script might do, in whatever state of the key, makes it unrecognised.
func recognise(text string) (shape, bool) {
	return shape{}, false
}
