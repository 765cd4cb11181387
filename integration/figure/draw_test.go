package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

func TestFigureIsAsItIsDrawn(t *testing.T) {
	b, err := os.ReadFile("../../quorum/blankmaster.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != draw() {
		t.Error("quorum/blankmaster.svg is old; cure: go run ./integration/figure > quorum/blankmaster.svg")
	}
}

// What shows it refuses figures that do more than to be looked at.
func TestFigureIsWellFormedAndAlone(t *testing.T) {
	figure := draw()
	words := xml.NewDecoder(strings.NewReader(figure))
	for {
		_, err := words.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, more := range []string{"<script", "<style", "href", "url(", "<foreignObject"} {
		if strings.Contains(figure, more) {
			t.Errorf("it has %s", more)
		}
	}
}

// Each decision is what the votes above it amount to.
func TestVotesAmountToTheDecision(t *testing.T) {
	for i, s := range steps {
		if s.asker == "" {
			continue
		}
		votes := map[quorum.Vote]int{}
		for _, v := range s.votes {
			votes[v]++
		}
		n := len(s.votes)
		want := quorum.Split
		switch {
		case votes[quorum.Granted] >= quorum.QuorumOf(n):
			want = quorum.Won
		case votes[quorum.Refused] >= n-quorum.QuorumOf(n)+1:
			want = quorum.Contended
		case votes[quorum.Granted]+votes[quorum.Refused] < quorum.QuorumOf(n):
			want = quorum.Unavailable
		}
		if s.decision != want || (s.reply == "OK") != (want == quorum.Won) {
			t.Errorf("step %d: %s, %s; want %s", i+1, s.decision, s.reply, want)
		}
	}
}

// A master's vote is what it may say in the state that it is in, by what it holds.
func TestVotesAreThoseOfTheStates(t *testing.T) {
	in := func(spans []span, time float64) *span {
		for i := range spans {
			if spans[i].from < time && time < spans[i].to {
				return &spans[i]
			}
		}
		return nil
	}
	for i, s := range steps {
		for j, m := range masters {
			if s.asker == "" {
				continue
			}
			time := float64(i) + asks
			want := quorum.Granted
			switch in(m.states, time).state {
			case quorum.Down:
				want = quorum.Unknown
			case quorum.Quarantined:
				want = quorum.Withheld
			case quorum.Voting:
				if in(m.holds, time) != nil {
					want = quorum.Refused
				}
			}
			if s.votes[j] != want {
				t.Errorf("step %d: %s says %s, want %s", i+1, m.name, s.votes[j], want)
			}
		}
	}
}
