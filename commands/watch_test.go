package commands

import (
	"reflect"
	"slices"
	"testing"

	"redlock-proxy/quorum"
)

// Whoever watches and then sees another value decides by what is not true any more,
// even if it becomes true again.
func TestReadingAnotherValueThanWatchedBreaksTheWatch(t *testing.T) {
	for _, c := range []struct {
		before quorum.Result
		line   string
		then   quorum.Result
		intact bool
	}{
		{holds("t"), "GET k", holds("t"), true},
		{holds("t"), "GET k", holds("u"), false},
		{holds("t"), "GET k", absent, false},
		{holds("t"), "GET k", noString, false},
		{holds("t"), "GET k", noQuorum, true},
		{holds("t"), "PTTL k", holds("u"), false},
		{holds("t"), "STRLEN k", holds("u"), false},
		{holds("t"), "GET j", holds("u"), true},
		{absent, "EXISTS k", absent, true},
		{absent, "EXISTS k", holds("t"), false},
		{holds("t"), "HGET k f", ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{bulk("digest"), bulk("v")}}), false},
	} {
		s := watched(t, c.before)
		answer(t, do(t, s, c.line), c.then)
		a := exec(t, s, "SET j v", "PING")
		if intact := len(a.Requests) == 1; intact != c.intact || !intact && a.Reply.Kind != NullArrayReply {
			t.Errorf("%s says %+v: intact %t, want %t", c.line, c.then, intact, c.intact)
		}
	}
}

func TestKeysThatAreNoStringsAreWatchedByDigest(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	_, next := answer(t, do(t, s, "WATCH a k"), holds("t"), noString)
	if len(next.Requests) != 1 || next.Requests[0].Script != digestScript || next.Requests[0].Key != "k" {
		t.Fatalf("%+v", next)
	}
	if reply, _ := answer(t, next, ran(bulk("digest"))); reply.Str != "OK" {
		t.Errorf("%+v", reply)
	}
	a := do(t, s, "HGETALL k")
	if a.Requests[0].Script != readWatchedScript {
		t.Fatalf("%+v", a)
	}
	elems := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{bulk("f"), bulk("v")}}
	got, _ := answer(t, a, ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{bulk("digest"), elems}}))
	if !reflect.DeepEqual(got, Map(Bulk("f"), Bulk("v"))) {
		t.Errorf("%+v", got)
	}
	want := []string{"2", "1", "string", "t", "2", "other", "digest", "1", "3", "HDEL", "k", "f"}
	if a := exec(t, s, "HDEL k f"); !slices.Equal(a.Requests[0].Args, want) {
		t.Errorf("%q", a.Requests[0].Args)
	}

	// A key that cannot be watched is an error, and EXEC does nothing.
	s = NewDialect(Options{}).Session(1)
	_, next = answer(t, do(t, s, "WATCH k"), noString)
	failed := ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "ERR no"}})
	if reply, _ := answer(t, next, failed); reply.Str != "ERR no" {
		t.Errorf("%+v", reply)
	}
	if a := exec(t, s, "SET j v"); a.Reply.Kind != NullArrayReply {
		t.Errorf("%+v", a)
	}
}

// EXEC that comes before the answers to WATCH waits for them, with all its keys.
func TestExecWaitsForWhatWatchReads(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	watch := do(t, s, "WATCH k")
	a := exec(t, s, "SET j v", "PING")
	if !a.Continues || len(a.Requests) != 1 || !slices.Equal(a.Requests[0].Keys, []string{"k", "j"}) {
		t.Fatalf("%+v", a)
	}
	answer(t, watch, holds("t"))
	_, next := answer(t, a, ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}))
	if len(next.Requests) != 1 || next.Requests[0].Args[3] != "t" {
		t.Errorf("%+v", next)
	}
}
