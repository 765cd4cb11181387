package engine

import (
	"sync/atomic"

	"redlock-proxy/quorum"
)

// ballot is the tally of one request in one atomic word: four bits for each of
// up to MaxMasters masters (three for its vote, one for whether it carried the
// command out), three for the decision, and one that says that time has run
// out. A vote and the decision that follows from it are cast in one step, so a
// decision falls exactly once, whoever else votes at that moment.
type ballot struct{ word atomic.Uint64 }

// counted is the word of a ballot as of one moment.
type counted uint64

const (
	voteBits      = 4
	voteMask      = 0x7
	carriedOut    = 0x8
	decisionShift = voteBits * quorum.MaxMasters
	decisionMask  = 0x7
	timeUp        = 1 << 63
)

func (c counted) vote(i int) quorum.Vote { return quorum.Vote(c >> (i * voteBits) & voteMask) }
func (c counted) did(i int) bool         { return c>>(i*voteBits)&carriedOut != 0 }
func (c counted) decision() quorum.Decision {
	return quorum.Decision(c >> decisionShift & decisionMask)
}
func (c counted) timeUp() bool                   { return c&timeUp != 0 }
func (c counted) with(d quorum.Decision) counted { return c | counted(d)<<decisionShift }

func (c counted) voted(i int, v quorum.Vote, did bool) counted {
	c |= counted(v) << (i * voteBits)
	if did {
		c |= carriedOut << (i * voteBits)
	}
	return c
}

func (c counted) tally(n int) tally {
	t := tally{masters: n}
	for i := range n {
		switch c.vote(i) {
		case quorum.Granted:
			t.granted++
		case quorum.Refused:
			t.refused++
		case quorum.Unknown:
			t.unknown++
		case quorum.Withheld:
			t.withheld++
		default:
			t.pending++
		}
	}
	if c.timeUp() {
		t.unknown += t.pending
		t.pending = 0
	}
	return t
}

// cast adds master i's vote and decides by it. It returns the word with the
// vote in it, and whether this very vote was the decisive one.
func (b *ballot) cast(i int, v quorum.Vote, did bool, decide func(counted) quorum.Decision) (c counted, decisive bool) {
	return b.change(func(c counted) counted { return c.voted(i, v, did) }, decide)
}

// close ends the time for voting and decides by the votes that are in.
func (b *ballot) close(decide func(counted) quorum.Decision) (c counted, decisive bool) {
	return b.change(func(c counted) counted { return c | timeUp }, decide)
}

func (b *ballot) change(step func(counted) counted, decide func(counted) quorum.Decision) (counted, bool) {
	for {
		old := counted(b.word.Load())
		c := step(old)
		decisive := false
		if old.decision() == quorum.Undecided {
			if d := decide(c); d != quorum.Undecided {
				c, decisive = c.with(d), true
			}
		}
		if b.word.CompareAndSwap(uint64(old), uint64(c)) {
			return c, decisive
		}
	}
}

func (b *ballot) load() counted { return counted(b.word.Load()) }
