package engine

import (
	"sync"
	"sync/atomic"
	"testing"

	"redlock-proxy/quorum"
)

var allVotes = []quorum.Vote{0, quorum.Granted, quorum.Refused, quorum.Unknown, quorum.Withheld}

// Every assignment of votes to up to seven masters.
func TestBallotCountsWhatWasCast(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for code := range pow(len(allVotes), n) {
			var c counted
			want := tally{masters: n}
			counts := map[quorum.Vote]*int{0: &want.pending, quorum.Granted: &want.granted, quorum.Refused: &want.refused,
				quorum.Unknown: &want.unknown, quorum.Withheld: &want.withheld}
			for i, rest := 0, code; i < n; i, rest = i+1, rest/len(allVotes) {
				v := allVotes[rest%len(allVotes)]
				*counts[v]++
				c = c.voted(i, v, v == quorum.Granted)
				if c.vote(i) != v || c.did(i) != (v == quorum.Granted) {
					t.Fatalf("master %d of %d: vote %v, did %v, want %v", i, n, c.vote(i), c.did(i), v)
				}
			}
			if got := c.tally(n); got != want {
				t.Fatalf("tally %+v, want %+v", got, want)
			}
			if got := c.complete(n); got != (want.pending == 0) {
				t.Fatalf("complete is %v with %+v", got, want)
			}
			want.unknown, want.pending = want.unknown+want.pending, 0
			if got := (c | timeUp).tally(n); got != want {
				t.Fatalf("tally %+v when time is up, want %+v", got, want)
			}
		}
	}
}

func TestFifteenMastersFitIntoOneWord(t *testing.T) {
	for _, did := range []bool{false, true} {
		for _, v := range allVotes[1:] {
			for d := quorum.Won; d <= quorum.Unavailable; d++ {
				var c counted
				for i := range quorum.MaxMasters {
					c = c.voted(i, v, did)
				}
				c = c.with(d) | timeUp
				for i := range quorum.MaxMasters {
					if c.vote(i) != v || c.did(i) != did {
						t.Fatalf("master %d: vote %v, did %v, want %v, %v", i, c.vote(i), c.did(i), v, did)
					}
				}
				if c.decision() != d || !c.timeUp() || !c.complete(quorum.MaxMasters) {
					t.Fatalf("decision %v, time up %v, complete %v", c.decision(), c.timeUp(), c.complete(quorum.MaxMasters))
				}
			}
		}
	}
	var c counted
	if c = c.voted(quorum.MaxMasters-1, quorum.Withheld, true); c.decision() != quorum.Undecided || c.timeUp() {
		t.Errorf("the last master's vote reads as decision %v, time up %v", c.decision(), c.timeUp())
	}
}

// All lanes and the sweeper vote at the same moment: the decision falls once,
// and it is the one that stands in the word afterwards.
func TestOneVoteDecidesWhoeverVotesAtThatMoment(t *testing.T) {
	const n = quorum.MaxMasters
	for round := range 300 {
		o := &op{Request: quorum.Request{Kind: quorum.Acquire}, said: make([]said, n)}
		var decisive atomic.Int32
		var fell atomic.Uint32
		note := func(c counted, d bool) {
			if d {
				decisive.Add(1)
				fell.Store(uint32(c.decision()))
			}
		}
		var wait sync.WaitGroup
		start := make(chan struct{})
		for i := range n {
			wait.Go(func() {
				<-start
				v := allVotes[1+(i*7+round)%3]
				note(o.ballot.cast(i, v, v == quorum.Granted, o.decide))
			})
		}
		if round%3 == 0 {
			wait.Go(func() { <-start; note(o.ballot.close(o.decide)) })
		}
		close(start)
		wait.Wait()
		if c := o.ballot.load(); decisive.Load() != 1 || uint32(c.decision()) != fell.Load() || !c.complete(n) {
			t.Fatalf("round %d: %d decisive votes, %v decided, word %x", round, decisive.Load(), quorum.Decision(fell.Load()), c)
		}
	}
}
