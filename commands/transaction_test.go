package commands

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"redlock-proxy/quorum"
)

// watched is a session that watches k, which a quorum held with this result.
func watched(t *testing.T, r quorum.Result) *Session {
	t.Helper()
	s := NewDialect(Options{}).Session(1)
	answer(t, do(t, s, "WATCH k"), r)
	return s
}

// What a client has said in a transaction, or watches, is kept for long, and no more than that: the
// bytes that were read with it are others' as well.
func TestWhatIsKeptOfATransactionHoldsNothingElse(t *testing.T) {
	read := "WATCH k1 k2 MULTI SET k1 v PING" + strings.Repeat(" of another", 300)
	of := func(from, to string) (words []string) {
		rest := read[strings.Index(read, from):]
		for word := range strings.FieldsSeq(rest[:strings.Index(rest, to)+len(to)]) {
			words = append(words, word)
		}
		return words
	}
	s := NewDialect(Options{}).Session(1)
	a := s.Do(of("WATCH", "k2"))
	answer(t, a, quorum.Result{Decision: quorum.Won}, quorum.Result{Decision: quorum.Won})
	s.Do(of("MULTI", "MULTI"))
	s.Do(of("SET", "v"))
	s.Do(of("PING", "PING"))
	kept := slices.Clone(s.watch.keys.list)
	for key := range s.watch.states {
		kept = append(kept, key)
	}
	for _, q := range s.tx.queue {
		kept = append(kept, q.args...)
	}
	if len(kept) != 8 {
		t.Fatalf("kept are %q", kept)
	}
	from := uintptr(unsafe.Pointer(unsafe.StringData(read)))
	for _, word := range kept {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(word))); from <= at && at < from+uintptr(len(read)) {
			t.Errorf("%q is kept with all that was read", word)
		}
	}
}

// answer renders an action whose requests have these results.
func answer(t *testing.T, a Action, results ...quorum.Result) (Reply, Action) {
	t.Helper()
	if len(a.Requests) != len(results) {
		t.Fatalf("%d requests: %+v", len(a.Requests), a)
	}
	return a.Render.Render(results)
}

func holds(value string) quorum.Result {
	return quorum.Result{Decision: quorum.Won, Exists: true, Type: "string", Value: value}
}

func ran(r quorum.ScriptReply) quorum.Result {
	return quorum.Result{Decision: quorum.Won, Script: &r}
}

func bulk(s string) quorum.ScriptReply {
	return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: s}}
}

var (
	absent   = quorum.Result{Decision: quorum.Won}
	noQuorum = quorum.Result{Decision: quorum.Unavailable, Voted: 1, Needed: 2, Masters: 3}
	noString = quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply, Str: errWrongType}}
)

// exec queues commands and comes to EXEC.
func exec(t *testing.T, s *Session, lines ...string) Action {
	t.Helper()
	do(t, s, "MULTI")
	for _, line := range lines {
		if a := do(t, s, line); a.Reply.Str != "QUEUED" {
			t.Fatalf("%s: %q", line, a.Reply.Str)
		}
	}
	return do(t, s, "EXEC")
}

func TestTransactionsComeToTheseRequests(t *testing.T) {
	run := func(keys []string, args ...string) []quorum.Request {
		return []quorum.Request{{Kind: quorum.Run, Script: execScript, Key: keys[0], Keys: keys, Args: args}}
	}
	reads := func(keys []string, args ...string) []quorum.Request {
		r := run(keys, args...)
		r[0].Script = execScript.ReadOnly()
		return r
	}
	one := func(r quorum.Request) []quorum.Request { r.Key = "k"; return []quorum.Request{r} }
	for _, c := range []struct {
		before *quorum.Result // of WATCH k; nil: nothing is watched
		lines  string
		want   []quorum.Request
	}{
		// A compare-and-delete and a compare-and-expire.
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "UNLINK k", one(quorum.Request{Kind: quorum.Release, Token: "t"})},
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "EXPIRE k 0", one(quorum.Request{Kind: quorum.Release, Token: "t"})},
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "PEXPIRE k 3000", one(quorum.Request{Kind: quorum.Extend, Token: "t", TTL: 3e9})},
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "PEXPIREAT k 4102444800000", one(quorum.Request{Kind: quorum.Extend, Token: "t", At: 4102444800000})},

		// What only looks like one.
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "PEXPIRE k 3000 GT", run([]string{"k"}, "1", "1", "string", "t", "1", "4", "PEXPIRE", "k", "3000", "GT")},
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "DEL j", run([]string{"k", "j"}, "1", "1", "string", "t", "1", "2", "DEL", "j")},
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "DEL k j", run([]string{"k", "j"}, "1", "1", "string", "t", "1", "3", "DEL", "k", "j")},
		{&quorum.Result{Decision: quorum.Won, Exists: true, Value: "t"}, "DEL k|PING", run([]string{"k"}, "1", "1", "string", "t", "1", "2", "DEL", "k")},
		{&absent, "DEL k", run([]string{"k"}, "1", "1", "absent", "", "1", "2", "DEL", "k")},
		{&absent, "PING", reads([]string{"k"}, "1", "1", "absent", "", "0")},

		// One command alone is that command.
		{nil, "SET k t NX PX 30000", one(quorum.Request{Kind: quorum.Acquire, Token: "t", TTL: 30e9})},
		{nil, "SET k t NX PX 30000|GET j", run([]string{"k", "j"}, "0", "2", "6", "SET", "k", "t", "NX", "PX", "30000", "2", "GET", "j")},
		{nil, "SET k t FOO|GET k|PING", reads([]string{"k"}, "0", "1", "2", "GET", "k")},
	} {
		s := NewDialect(Options{}).Session(1)
		if c.before != nil {
			s = watched(t, *c.before)
		}
		if a := exec(t, s, strings.Split(c.lines, "|")...); !reflect.DeepEqual(a.Requests, c.want) {
			t.Errorf("%s\ncomes to %+v,\nwant     %+v", c.lines, a.Requests, c.want)
		}
		if a := do(t, s, "EXEC"); a.Reply.Str != errExecAlone || s.watch != nil {
			t.Errorf("%s: EXEC leaves something behind", c.lines)
		}
	}
}

func TestNullTellsThatAWatchedKeyIsAnother(t *testing.T) {
	null := Reply{Kind: NullArrayReply}
	for name, c := range map[string]struct {
		lines  string
		result quorum.Result
		want   Reply
	}{
		"released":           {"DEL k", quorum.Result{Decision: quorum.Won}, Array(Integer(1))},
		"another's":          {"DEL k", quorum.Result{Decision: quorum.Contended}, null},
		"no string any more": {"PEXPIRE k 3000", noString, null},
		"no quorum":          {"DEL k", noQuorum, unavailable(noQuorum)},
		"carried out":        {"GET k|PING", ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{bulk("t")}}), Array(Bulk("t"), Simple("PONG"))},
		"changed":            {"GET k|PING", ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}), null},
		"refused":            {"GET k|PING", ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "ERR no"}}), Error("ERR no")},
		"no quorum to run":   {"GET k|PING", noQuorum, unavailable(noQuorum)},
	} {
		got, _ := answer(t, exec(t, watched(t, holds("t")), strings.Split(c.lines, "|")...), c.result)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestTransactionsAreBounded(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	do(t, s, "MULTI")
	for range maxQueued {
		do(t, s, "GET k")
	}
	if a := do(t, s, "GET k"); a.Reply.Str != fmt.Sprintf(errQueueFull, maxQueued, maxQueuedWords, maxQueuedBytes) || !a.Rejected {
		t.Errorf("%+v", a)
	}
	if a := do(t, s, "EXEC"); a.Reply.Str != errExecAbort {
		t.Errorf("%+v", a)
	}
	do(t, s, "MULTI")
	if a := s.Do([]string{"SET", "k", strings.Repeat("v", maxQueuedBytes)}); a.Reply.Kind != ErrorReply {
		t.Errorf("%+v", a)
	}
	do(t, s, "DISCARD")
	do(t, s, "MULTI")
	words := append([]string{"SADD", "k"}, make([]string, 998)...)
	for range maxQueuedWords / len(words) {
		if a := s.Do(words); a.Rejected {
			t.Fatalf("%+v", a)
		}
	}
	if a := do(t, s, "GET k"); a.Reply.Str != fmt.Sprintf(errQueueFull, maxQueued, maxQueuedWords, maxQueuedBytes) {
		t.Errorf("%+v", a)
	}
	do(t, s, "DISCARD")
	keys := []string{"WATCH"}
	for i := range maxWatched + 1 {
		keys = append(keys, fmt.Sprint(i))
	}
	if a := s.Do(keys); a.Reply.Str != fmt.Sprintf(errWatchMany, maxWatched) {
		t.Errorf("%+v", a)
	}
	if a := s.Do(keys[:maxWatched+1]); len(a.Requests) != maxWatched {
		t.Errorf("%d requests", len(a.Requests))
	}
	if a := s.Do(append([]string{"HSET", "k"}, make([]string, maxWords)...)); a.Reply.Kind != ErrorReply {
		t.Errorf("%+v", a)
	}
}

func TestOptionsHoldInTransactions(t *testing.T) {
	s := NewDialect(Options{MaxTTL: 1e9, RefuseOverMaxTTL: true}).Session(1)
	a := exec(t, s, "SET k v PX 2000", "SET k v PX 500", "MSET k v")
	want := []string{"0", "1", "5", "SET", "k", "v", "PX", "500"}
	if !slices.Equal(a.Requests[0].Args, want) {
		t.Errorf("%q", a.Requests[0].Args)
	}
	ok := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}}
	got, _ := answer(t, a, ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{ok}}))
	if !reflect.DeepEqual(got, Array(Error(tooLong(1e9)), OK, Error(noTTL(1e9)))) {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsWrittenAtOnceIsBounded(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	mib := strings.Repeat("v", 1<<20)
	if a := s.Do([]string{"HSET", "k", "1", mib, "2", mib, "3", mib, "4", mib}); a.Reply.Str != fmt.Sprintf(errTooManyBytes, "hset", maxWritten) {
		t.Errorf("%+v", a.Reply)
	}
	if a := s.Do([]string{"HSET", "k", "1", mib, "2", mib, "3", mib}); len(a.Requests) != 1 {
		t.Errorf("%+v", a.Reply)
	}
}
