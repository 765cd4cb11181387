package decide

import "redlock-proxy/quorum"

// extend decides a compare-and-expire.
func (t tally) extend() quorum.Decision {
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

// open tells whether the masters that have not voted could still make a quorum
// of yes or a blocking minority of no.
func (t tally) open() bool {
	return t.pending > 0 &&
		(t.Granted+t.pending >= t.Quorum() || t.Refused+t.pending >= t.masters-t.Quorum()+1)
}
