package main

import (
	"bufio"
	"strings"
	"testing"
	"time"
)

// TestRepliesAreThrownAwayButForErrors: what stands behind a reply is the next one's.
func TestRepliesAreThrownAwayButForErrors(t *testing.T) {
	for _, test := range []struct {
		replies string
		want    []string
	}{
		{"+OK\r\n:1\r\n", []string{"", ""}},
		{"$3\r\na\r\n\r\n-ERR no\r\n", []string{"", "ERR no"}},
		{"$-1\r\n*-1\r\n-no\r\n", []string{"", "", "no"}},
		{"*2\r\n$1\r\na\r\n*1\r\n:1\r\n-no\r\n", []string{"", "no"}},
	} {
		w := &wire{r: bufio.NewReader(strings.NewReader(test.replies))}
		for i, want := range test.want {
			if got, err := w.skip(); got != want || err != nil {
				t.Errorf("%q: reply %d is %q, %v, want %q", test.replies, i, got, err, want)
			}
		}
	}
	w := &wire{r: bufio.NewReader(strings.NewReader("$5\r\nab"))}
	if _, err := w.skip(); err == nil {
		t.Error("half a reply is one")
	}
}

// TestAnswersThatAreNoErrorsAreTold, and who was cut off instead; not by the end of the assault.
func TestAnswersThatAreNoErrorsAreTold(t *testing.T) {
	a := &assault{over: make(chan struct{})}
	a.answered("ERR the script takes more than 10000 steps", nil, time.Second)
	a.answered("", nil, time.Millisecond)
	a.answered("", errOver, time.Millisecond)
	close(a.over)
	a.answered("", errOver, 2*time.Second)
	if a.tally.Answers != 1 || sum(a.tally.Wrong) != 2 || a.tally.Slowest != 2*time.Second {
		t.Errorf("%+v", a.tally)
	}
}

func TestTalliesAddUp(t *testing.T) {
	var all tally
	all.add(&tally{Done: 1, Answers: 2, Slowest: 3, Refused: map[string]int{"a": 1}})
	all.add(&tally{Done: 1, Answers: 2, Slowest: 2, Refused: map[string]int{"a": 1, "b": 1}, Wrong: map[string]int{"c": 1}})
	if all.Done != 2 || all.Answers != 4 || all.Slowest != 3 || all.Refused["a"] != 2 || sum(all.Refused) != 3 || sum(all.Wrong) != 1 {
		t.Errorf("%+v", all)
	}
}
