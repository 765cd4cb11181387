package engine

import (
	"math/bits"
	"time"

	"redlock-proxy/quorum"
)

// Who may have done a lost step, though nothing tells of it.

// mayHaveActed tells that a master was sent the step and has not told what came of it. What is not
// known is not taken back there, and what is tried again may be done twice:
//
//	1: A pushes x on the list of masters 1, 2 and 3, of which 3 has missed a push
//	2: 1 does so, and its answer is lost; 2 and 3 answer with two lengths, and take it back
//	3: all are asked once more: 1 has x twice now, and answers with the length that 3 does
func (r ruling) mayHaveActed() bool {
	for i := range r.sent {
		if r.votes.Vote(i) == quorum.Unknown && !r.sent[i].unsent {
			return true
		}
	}
	return false
}

// awaitsLate tells that what is given back waits for masters that have not voted yet: nobody else waits for its answer,
// and who has not voted may have done it.
func (r ruling) awaitsLate() bool {
	if !r.GivesBack || r.votes.Decision() != quorum.Split || time.Since(r.put) >= r.db.AcquireTimeout {
		return false
	}
	late := r.ballot.Load()
	for i := range r.sent {
		if late.Vote(i) == 0 {
			return true
		}
	}
	return false
}

// mayHaveIt are the masters that may have done a lost step of which all that was to be taken back is: who had not told when
// it was decided may have, if his link is lost before it is taken back there, unless he tells by now that he has not; of what
// has failed otherwise than split nobody waits for that.
func (r ruling) mayHaveIt() (unsure uint16) {
	late := r.ballot.Load()
	for i := range r.sent {
		switch vote := late.Vote(i); {
		case vote == quorum.Refused, r.votes.Vote(i) == quorum.Granted && r.votes.Decision() == quorum.Split:
		case vote != 0 && r.sent[i].unsent: // before it has voted that is its lane's
		default:
			unsure |= 1 << i
		}
	}
	return unsure
}

// fewMayHaveIt tells that no quorum may have done a step, of all tries.
func (r ruling) fewMayHaveIt() bool {
	return bits.OnesCount16(r.unsure) <= len(r.sent)-quorum.QuorumOf(len(r.sent))
}
