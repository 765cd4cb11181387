package decide

import "redlock-proxy/quorum"

// An extend is a compare-and-expire: a key that holds the token gets another ttl, or none. See
// compare.go for its votes, and for what is told.

// extend decides it: yes at a quorum of yes, no when a blocking minority says no.
func (t Tally) extend() quorum.Decision {
	switch {
	case t.Granted >= t.Quorum():
		return quorum.Won
	case t.blocked():
		return quorum.Contended
	case t.open():
		return quorum.Undecided
	}
	return quorum.Unavailable
}
