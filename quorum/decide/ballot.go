package decide

import (
	"sync/atomic"

	"redlock-proxy/quorum"
)

// Ballot is the tally of one request in one atomic word: four bits for each of
// up to MaxMasters masters (three for its vote, one for whether it carried the
// command out), three for the decision, and one that says that time has run
// out. A vote and the decision that follows from it are cast in one step, so a
// decision falls exactly once, whoever else votes at that moment.
type Ballot struct{ word atomic.Uint64 }

// Votes is the word of a Ballot as of one moment.
type Votes uint64

const (
	voteBits      = quorum.VoteBits
	voteMask      = 0x7
	carriedOut    = 0x8
	decisionShift = voteBits * quorum.MaxMasters
	decisionMask  = 0x7
	timeUp        = 1 << 63
)

// Vote is master i's, counted from 0; zero if it has not voted.
func (c Votes) Vote(i int) quorum.Vote { return quorum.Vote(c >> (i * voteBits) & voteMask) }

// Did tells that master i has carried the command out.
func (c Votes) Did(i int) bool { return c>>(i*voteBits)&carriedOut != 0 }

// Decision is the one that has fallen, or Undecided.
func (c Votes) Decision() quorum.Decision {
	return quorum.Decision(c >> decisionShift & decisionMask)
}

// ByMaster is the votes without what else the word tells.
func (c Votes) ByMaster() quorum.Votes { return quorum.Votes(c & (1<<decisionShift - 1)) }

// TimeUp tells that no vote is waited for any more.
func (c Votes) TimeUp() bool { return c&timeUp != 0 }

// With is what the votes are once d has fallen; none may have.
func (c Votes) With(d quorum.Decision) Votes { return c | Votes(d)<<decisionShift }

// Voted is what the votes are once master i, which has not yet, has cast this one. did tells that
// it has carried the command out.
func (c Votes) Voted(i int, v quorum.Vote, did bool) Votes {
	c |= Votes(v) << (i * voteBits)
	if did {
		c |= carriedOut << (i * voteBits)
	}
	return c
}

// Tally counts the votes of n masters.
func (c Votes) Tally(n int) Tally {
	t := Tally{masters: n}
	for i := range n {
		switch c.Vote(i) {
		case quorum.Granted:
			t.Granted++
		case quorum.Refused:
			t.Refused++
		case quorum.Unknown:
			t.unknown++
		case quorum.Withheld:
			t.withheld++
		default:
			t.pending++
		}
	}
	if c.TimeUp() {
		t.unknown += t.pending
		t.pending = 0
	}
	return t
}

// Cast adds master i's vote and decides by it. It returns the word with the
// vote in it, and whether this very vote was the decisive one.
func (b *Ballot) Cast(i int, v quorum.Vote, did bool, decide func(Votes) quorum.Decision) (c Votes, decisive bool) {
	return b.change(func(c Votes) Votes { return c.Voted(i, v, did) }, decide)
}

// Close ends the time for voting and decides by the votes that are in.
func (b *Ballot) Close(decide func(Votes) quorum.Decision) (c Votes, decisive bool) {
	return b.change(func(c Votes) Votes { return c | timeUp }, decide)
}

func (b *Ballot) change(step func(Votes) Votes, decide func(Votes) quorum.Decision) (Votes, bool) {
	for {
		old := Votes(b.word.Load())
		c := step(old)
		decisive := false
		if old.Decision() == quorum.Undecided {
			if d := decide(c); d != quorum.Undecided {
				c, decisive = c.With(d), true
			}
		}
		if b.word.CompareAndSwap(uint64(old), uint64(c)) {
			return c, decisive
		}
	}
}

// Load is the votes as of now.
func (b *Ballot) Load() Votes { return Votes(b.word.Load()) }
