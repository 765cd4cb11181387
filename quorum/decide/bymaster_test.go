package decide

import (
	"testing"

	"redlock-proxy/quorum"
)

func TestResultTellsTheVotesThatDecided(t *testing.T) {
	q := Question{Request: quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t"}, Said: make([]Said, 5)}
	votes := Votes(0).Voted(0, quorum.Granted, true).Voted(3, quorum.Refused, false).Voted(4, quorum.Withheld, true).With(quorum.Split)
	r := q.Result(votes | timeUp)
	for i, want := range []quorum.Vote{quorum.Granted, 0, 0, quorum.Refused, quorum.Withheld} {
		if got := r.Votes.Of(i); got != want {
			t.Errorf("master %d: %v, want %v", i, got, want)
		}
	}
	if r.Votes != votes.ByMaster() || r.Votes.Of(quorum.MaxMasters-1) != 0 {
		t.Errorf("%x", r.Votes)
	}
}
