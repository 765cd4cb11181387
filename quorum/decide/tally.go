package decide

import "redlock-proxy/quorum"

// tally is the votes on one request, counted. pending masters have not voted
// yet; when time has run out they are counted as unknown.
type tally struct {
	masters                                      int
	Granted, Refused, unknown, withheld, pending int
}

func (t tally) Quorum() int { return quorum.QuorumOf(t.masters) }

// blocked tells that so many refused that no quorum of the others is left.
func (t tally) blocked() bool { return t.Refused >= t.masters-t.Quorum()+1 }
