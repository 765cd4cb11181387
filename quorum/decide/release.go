package decide

import "redlock-proxy/quorum"

// A release is a compare-and-delete: a key that holds the token goes. See compare.go for its
// votes, and for what is told.

// release decides it, and a removal: granted masters had the
// key and deleted it. An unknown master may have deleted it too; so may a
// withheld one that had nothing to delete, before it forgot. Without any that
// is known to have deleted it, there is no yes.
func (t Tally) release() quorum.Decision {
	may := t.Granted + t.unknown + t.withheld
	switch {
	case t.Granted >= 1 && may >= t.Quorum():
		return quorum.Won
	case may+t.pending < t.Quorum():
		return quorum.Contended
	case t.pending > 0:
		return quorum.Undecided
	}
	return quorum.Unavailable
}
