package decide

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
			var c Votes
			want := Tally{masters: n}
			counts := map[quorum.Vote]*int{0: &want.pending, quorum.Granted: &want.Granted, quorum.Refused: &want.Refused,
				quorum.Unknown: &want.unknown, quorum.Withheld: &want.withheld}
			for i, rest := 0, code; i < n; i, rest = i+1, rest/len(allVotes) {
				v := allVotes[rest%len(allVotes)]
				*counts[v]++
				c = c.Voted(i, v, v == quorum.Granted)
				if c.Vote(i) != v || c.Did(i) != (v == quorum.Granted) {
					t.Fatalf("master %d of %d: vote %v, did %v, want %v", i, n, c.Vote(i), c.Did(i), v)
				}
			}
			if got := c.Tally(n); got != want {
				t.Fatalf("tally %+v, want %+v", got, want)
			}
			if got := c.complete(n); got != (want.pending == 0) {
				t.Fatalf("complete is %v with %+v", got, want)
			}
			want.unknown, want.pending = want.unknown+want.pending, 0
			if got := (c | timeUp).Tally(n); got != want {
				t.Fatalf("tally %+v when time is up, want %+v", got, want)
			}
		}
	}
}

func TestFifteenMastersFitIntoOneWord(t *testing.T) {
	for _, did := range []bool{false, true} {
		for _, v := range allVotes[1:] {
			for d := quorum.Won; d <= quorum.Unavailable; d++ {
				var c Votes
				for i := range quorum.MaxMasters {
					c = c.Voted(i, v, did)
				}
				c = c.With(d) | timeUp
				for i := range quorum.MaxMasters {
					if c.Vote(i) != v || c.Did(i) != did {
						t.Fatalf("master %d: vote %v, did %v, want %v, %v", i, c.Vote(i), c.Did(i), v, did)
					}
				}
				if c.Decision() != d || !c.TimeUp() || !c.complete(quorum.MaxMasters) {
					t.Fatalf("decision %v, time up %v, complete %v", c.Decision(), c.TimeUp(), c.complete(quorum.MaxMasters))
				}
			}
		}
	}
	var c Votes
	if c = c.Voted(quorum.MaxMasters-1, quorum.Withheld, true); c.Decision() != quorum.Undecided || c.TimeUp() {
		t.Errorf("the last master's vote reads as decision %v, time up %v", c.Decision(), c.TimeUp())
	}
}

// All lanes and the sweeper vote at the same moment: the decision falls once,
// and it is the one that stands in the word afterwards.
func TestOneVoteDecidesWhoeverVotesAtThatMoment(t *testing.T) {
	const n = quorum.MaxMasters
	for round := range 300 {
		o := &Question{Request: quorum.Request{Kind: quorum.Acquire}, Said: make([]Said, n)}
		var b Ballot
		var decisive atomic.Int32
		var fell atomic.Uint32
		note := func(c Votes, d bool) {
			if d {
				decisive.Add(1)
				fell.Store(uint32(c.Decision()))
			}
		}
		var wait sync.WaitGroup
		start := make(chan struct{})
		for i := range n {
			wait.Go(func() {
				<-start
				v := allVotes[1+(i*7+round)%3]
				note(b.Cast(i, v, v == quorum.Granted, o.Decide))
			})
		}
		if round%3 == 0 {
			wait.Go(func() { <-start; note(b.Close(o.Decide)) })
		}
		close(start)
		wait.Wait()
		if c := b.Load(); decisive.Load() != 1 || uint32(c.Decision()) != fell.Load() || !c.complete(n) {
			t.Fatalf("round %d: %d decisive votes, %v decided, word %x", round, decisive.Load(), quorum.Decision(fell.Load()), c)
		}
	}
}

// complete tells that all n masters have voted.
func (c Votes) complete(n int) bool {
	for i := range n {
		if c.Vote(i) == 0 {
			return false
		}
	}
	return true
}
