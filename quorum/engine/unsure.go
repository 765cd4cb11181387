package engine

import (
	"math/bits"
	"time"

	"redlock-proxy/quorum"
)

// Who may have done a lost step, though nothing tells of it. What is not known is not taken back there, and what is tried
// again would be done twice:
//
//	1: A pushes x on the list of masters 1, 2 and 3, of which 3 has missed a push
//	2: 1 does so, and its answer is lost; 2 and 3 answer with two lengths, and take it back
//	3: all are asked once more: 1 has x twice now, and answers with the length that 3 does
//
// So an exact step is tried again without them: each master does it once at most. What is won then they have missed, as far
// as is known, and are looked at for it (mending.go). Other steps find out by themselves what they have done.

// MayHaveDone is quorum.Tried's. Who has not told may have done it, and who has may have it still until it is known to be taken
// back there. So may those have who did not take part in this try, until it is known of those before.
func (o *op) MayHaveDone() (unsure uint16) {
	if o.before != nil {
		unsure = o.before.MayHaveDone()
	}
	votes, confirmed := o.ballot.Load(), o.confirmed.Load()
	for i := range o.sent {
		switch vote := votes.Vote(i); {
		case vote == quorum.Refused && !o.Latched(votes, i), confirmed>>i&1 != 0:
		case vote != 0 && o.sent[i].unsent: // before it has voted that is its lane's
		default:
			unsure |= 1 << i
		}
	}
	return unsure
}

// leavesQuorum tells that there is a quorum without those.
func (o *op) leavesQuorum() bool {
	n := len(o.sent)
	return bits.OnesCount16(o.MayHaveDone()) <= n-quorum.QuorumOf(n)
}

// stalls tells, to the sweeper, of a step that has met another proxy's, that it could be tried again without who has not voted,
// and that he has been later than a quorum for a while. He may be so for long, and its latches keep others out meanwhile; or
// another one waits for him likewise, each with a part of the masters that are not late.
func (o *op) stalls(now time.Time) bool {
	if !o.IsStep() || o.Script.Heard || o.GivesBack {
		return false
	}
	votes := o.ballot.Load()
	if t := votes.Tally(len(o.Said)); t.Granted+t.Refused < t.Quorum() || !o.MetLatch(votes) {
		return false
	}
	if o.metAt.IsZero() {
		o.metAt = now
	}
	return now.Sub(o.metAt) > o.db.SplitDelay && o.hasTime(now)
}
