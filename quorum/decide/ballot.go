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

// counted is the word of a ballot as of one moment.
type Votes uint64

const (
	voteBits      = 4
	voteMask      = 0x7
	carriedOut    = 0x8
	decisionShift = voteBits * quorum.MaxMasters
	decisionMask  = 0x7
	timeUp        = 1 << 63
)

func (c Votes) Vote(i int) quorum.Vote { return quorum.Vote(c >> (i * voteBits) & voteMask) }
func (c Votes) Did(i int) bool         { return c>>(i*voteBits)&carriedOut != 0 }
func (c Votes) Decision() quorum.Decision {
	return quorum.Decision(c >> decisionShift & decisionMask)
}
func (c Votes) TimeUp() bool                 { return c&timeUp != 0 }
func (c Votes) With(d quorum.Decision) Votes { return c | Votes(d)<<decisionShift }

func (c Votes) Voted(i int, v quorum.Vote, did bool) Votes {
	c |= Votes(v) << (i * voteBits)
	if did {
		c |= carriedOut << (i * voteBits)
	}
	return c
}

func (c Votes) Tally(n int) tally {
	t := tally{masters: n}
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

func (b *Ballot) Load() Votes { return Votes(b.word.Load()) }
