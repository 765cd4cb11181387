package master

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// A master was asked to end a script at 1000.5 s of its time, by its answer 100 ms later, and
// is asked for its SLOWLOG at 1002.5 s.
func TestScriptThatWasEndedIsToldFromOthers(t *testing.T) {
	bulk := func(s string) decide.Answer { return decide.Answer{Kind: quorum.BulkReply, Str: s} }
	list := func(elems ...decide.Answer) decide.Answer {
		return decide.Answer{Kind: quorum.ArrayReply, Elems: elems}
	}
	number := func(n int64) decide.Answer { return decide.Answer{Kind: quorum.IntegerReply, Int: n} }
	entry := func(ended int64, took time.Duration, words ...string) decide.Answer {
		said := list()
		for _, word := range words {
			said.Elems = append(said.Elems, bulk(word))
		}
		return list(number(7), number(ended), number(took.Microseconds()), said, bulk("10.0.0.1:1"), bulk(""))
	}
	now := list(bulk("1002"), bulk(strconv.Itoa(500_000)))
	for _, test := range []struct {
		why     string
		entries []decide.Answer
		want    string
	}{
		{"it is the only one", []decide.Answer{entry(1000, 6*time.Second, "eval", "while true do end", "0")}, `eval "while true do end" of client 10.0.0.1:1`},
		{"another command was slow behind it", []decide.Answer{entry(1001, time.Second, "KEYS", "*"), entry(1000, 6*time.Second, "EVAL", "a", "0")}, `EVAL "a"`},
		{"another script ran behind it", []decide.Answer{entry(1002, time.Second, "EVAL", "b", "0"), entry(1000, 6*time.Second, "EVALSHA", "a", "0")}, `EVALSHA "a"`},
		{"another script ran before it", []decide.Answer{entry(1001, 6*time.Second, "EVAL", "a", "0"), entry(995, time.Hour, "EVAL", "b", "0")}, `EVAL "a"`},
		{"it may be either", []decide.Answer{entry(1001, 400*time.Millisecond, "EVAL", "a", "0"), entry(1000, time.Second, "EVAL", "b", "0")}, ""},
		{"its strings are nobody's", []decide.Answer{entry(1000, 6*time.Second, "EVAL", "x('secret', \"secret", "0", "secret")}, `EVAL "x('...', '...'"`},
		{"nothing is kept", nil, ""},
	} {
		got := ranThen(now, list(test.entries...), 2*time.Second, 100*time.Millisecond)
		if test.want == "" && got != "" || !strings.Contains(got, test.want) || strings.Contains(got, "secret") {
			t.Errorf("%s: told %q, want %q", test.why, got, test.want)
		}
	}
	if got := ranThen(decide.Answer{Kind: quorum.FailureReply, Str: "BUSY"}, list(entry(1000, time.Second, "EVAL", "a")), time.Second, 0); got != "" {
		t.Errorf("a master without a time: %q", got)
	}
}
