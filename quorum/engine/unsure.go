package engine

import "redlock-proxy/quorum"

// Who may have done a lost step, though nothing tells of it.

// mayHaveActed tells that a master was sent the step and has not told what came of it. What is not
// known is not taken back there, and what is tried again may be done twice:
//
//	1: A pushes x on the list of masters 1, 2 and 3, of which 3 has missed a push
//	2: 1 does so, and its answer is lost; 2 and 3 answer with two lengths, and take it back
//	3: all are asked once more: 1 has x twice now, and answers with the length that 3 does
//
// Who has not voted may have done it, too: so what is not to be tried again then is not decided to be lost before all have
// voted, or its time is over.
func (r ruling) mayHaveActed() bool {
	for i := range r.sent {
		if r.votes.Vote(i) == quorum.Unknown && !r.sent[i].unsent {
			return true
		}
	}
	return false
}

// unsure are the masters that may have done a lost step of which all that was to be taken back is: who has not told may have,
// if his link is lost before it is taken back there; of what has failed otherwise than split nobody waits for that.
func (r ruling) unsure() (unsure uint16) {
	for i := range r.sent {
		switch vote := r.votes.Vote(i); {
		case vote == quorum.Refused, vote == quorum.Granted && r.votes.Decision() == quorum.Split:
		case vote != 0 && r.sent[i].unsent: // before it has voted that is its lane's
		default:
			unsure |= 1 << i
		}
	}
	return unsure
}
