package decide

import "redlock-proxy/quorum"

// Tally is the votes on one request, counted. pending masters have not voted
// yet; when time has run out they are counted as unknown. Its rules, one for each kind of
// request, know of nothing but these numbers, and are tried on every tally there can be.
type Tally struct {
	masters                                      int
	Granted, Refused, unknown, withheld, pending int
}

// Quorum is how many masters make one.
func (t Tally) Quorum() int { return quorum.QuorumOf(t.masters) }

// blocking is how many masters leave no quorum of the others.
func (t Tally) blocking() int { return t.masters - t.Quorum() + 1 }

// blocked tells that so many refused.
func (t Tally) blocked() bool { return t.Refused >= t.blocking() }

// open tells whether the masters that have not voted could still make a quorum
// of yes or a blocking minority of no.
func (t Tally) open() bool {
	return t.pending > 0 && (t.Granted+t.pending >= t.Quorum() || t.Refused+t.pending >= t.blocking())
}
