package commands

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"redlock-proxy/quorum"
)

func TestGetsetAnswersWhatAQuorumSwapped(t *testing.T) {
	s := NewDialect(Options{}).Session(1)
	ok := ran(quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}})
	declined := func(r quorum.ScriptReply) quorum.Result {
		return quorum.Result{Decision: quorum.Contended, Script: &r, Voted: 3, Needed: 2, Masters: 3}
	}
	nothing := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}

	_, a := answer(t, do(t, s, "GETSET k new"), holds("old"))
	if got := a.Requests[0].Args; !slices.Equal(got, []string{"string", "old", "new"}) {
		t.Errorf("%q", got)
	}
	if reply, _ := answer(t, a, ok); reply.Str != "old" {
		t.Errorf("%+v", reply)
	}

	// Somebody was quicker, and somebody else deleted it.
	_, a = answer(t, a, declined(bulk("other")))
	_, a = answer(t, a, declined(nothing))
	if got := a.Requests[0].Args; !slices.Equal(got, []string{"absent", "", "new"}) {
		t.Errorf("%q", got)
	}
	if reply, _ := answer(t, a, ok); reply.Kind != NullReply {
		t.Errorf("%+v", reply)
	}

	for range maxSwaps - 2 {
		_, a = answer(t, a, declined(bulk("other")))
	}
	if reply, _ := answer(t, a, declined(bulk("other"))); reply.Str != "NOQUORUM 3 of 3 masters voted, but no 2 of them alike" {
		t.Errorf("%+v", reply)
	}
	for name, r := range map[string]quorum.Result{"no quorum": noQuorum, "another type": noString} {
		if reply, _ := answer(t, do(t, s, "GETSET k new"), r); reply.Kind != ErrorReply {
			t.Errorf("%s: %+v", name, reply)
		}
	}
}

// What is told of a part of a value does not hold all of it in memory.
func TestAPartOfAValueHoldsNoMoreOfIt(t *testing.T) {
	value := strings.Repeat("v", 1<<20)
	found := quorum.Result{Decision: quorum.Won, Exists: true, Type: "string", Value: value}
	reply, _ := readRange{10, 20_000}.Render([]quorum.Result{found})
	if len(reply.Str) != 19_991 {
		t.Fatalf("%d bytes", len(reply.Str))
	}
	at, of := uintptr(unsafe.Pointer(unsafe.StringData(reply.Str))), uintptr(unsafe.Pointer(unsafe.StringData(value)))
	if at >= of && at < of+uintptr(len(value)) {
		t.Error("it is a piece of the value")
	}
}
