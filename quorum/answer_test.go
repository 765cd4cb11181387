package quorum

import (
	"reflect"
	"testing"
)

// Every kind of request against every type of reply that a master can give. A
// reply that the request cannot have is no vote.
func TestReplyIsJudgedByWhatWasAsked(t *testing.T) {
	status := answer{kind: BulkReply, str: "OK"} // told like a bulk string
	text := answer{kind: BulkReply, str: "t"}
	none := answer{kind: NilReply}
	number := func(n int64) answer { return answer{kind: IntegerReply, int: n} }
	failure := func(s string) answer { return answer{kind: FailureReply, str: s} }
	wrong := failure("WRONGTYPE Operation against a key holding the wrong kind of value")
	list := func(a ...answer) answer { return answer{elems: append([]answer{}, a...)} }
	held := list(answer{kind: BulkReply, str: "string"}, text, number(500))
	hash := list(answer{kind: BulkReply, str: "hash"}, answer{kind: BulkReply}, number(-1))
	absent := list(answer{kind: BulkReply, str: "none"})

	plain := Request{Kind: Acquire, Key: "k", Token: "t"}
	release, extend, remove := Request{Kind: Release}, Request{Kind: Extend}, Request{Kind: Remove}
	read, get := Request{Kind: Read}, Request{Kind: Read, ValueOnly: true}
	write := Request{Kind: Write, Key: "k", Args: []string{"SET", "k", "v"}}
	old := Request{Kind: Write, Key: "k", Args: []string{"SET", "k", "v", "GET"}}
	oldXX := Request{Kind: Write, Key: "k", Args: []string{"SET", "k", "v", "XX", "GET"}}
	named := Request{Kind: Write, Key: "k", Args: []string{"SET", "k", "GET"}}
	wrote := func(kind string, value answer) answer {
		return list(answer{kind: BulkReply, str: kind}, value,
			answer{kind: BulkReply, str: "before"}, number(500))
	}
	undo := journaled{undo: []undoRecord{{key: "k", before: "before", left: 500, after: "v", expires: saysNoTTL}}}

	for i, c := range []struct {
		r     Request
		nxGet bool
		a     answer
		vote  Vote
		did   bool
		said  said
	}{
		{plain, true, none, Granted, true, said{}},
		{plain, true, text, Refused, false, said{value: "t", typ: "string", named: true}},
		{plain, true, status, Refused, false, said{value: "OK", typ: "string", named: true}},
		{plain, true, wrong, Refused, false, ofAnotherType},
		{plain, true, number(1), Unknown, false, said{}},
		{plain, true, list(), Unknown, false, said{}},
		{plain, true, failure("ERR syntax error"), Unknown, false, said{}},
		{plain, false, status, Granted, true, said{}},
		{plain, false, none, Refused, false, said{}},
		{plain, false, text, Unknown, false, said{}},
		{plain, false, number(1), Unknown, false, said{}},
		{plain, false, failure("ERR x"), Unknown, false, said{}},

		{release, true, number(0), Granted, true, said{left: 0}},
		{release, true, number(700), Granted, true, said{left: 700}},
		{release, true, number(saysNoTTL), Granted, true, said{left: saysNoTTL}},
		{release, true, number(saysAbsent), Refused, false, said{absent: true}},
		{release, true, number(saysOther), Refused, false, said{}},
		{release, true, number(-4), Unknown, false, said{}},
		{release, true, wrong, Refused, false, ofAnotherType},
		{release, true, none, Unknown, false, said{}},
		{release, true, status, Unknown, false, said{}},
		{release, true, held, Unknown, false, said{}},
		{release, true, failure("ERR x"), Unknown, false, said{}},
		{release, true, failure("ERR Error running script: WRONGTYPE Operation against"), Refused, false, ofAnotherType},
		{extend, true, number(1), Granted, true, said{left: 1}},
		{extend, true, number(saysAbsent), Refused, false, said{absent: true}},
		{extend, true, number(saysOther), Refused, false, said{}},
		{extend, true, none, Unknown, false, said{}},

		{read, true, held, Granted, true, said{value: "t", typ: "string", left: 500, named: true}},
		{read, true, hash, Granted, true, said{typ: "hash", left: saysNoTTL}},
		{read, true, absent, Granted, true, said{absent: true}},
		{read, true, none, Unknown, false, said{}},
		{read, true, text, Unknown, false, said{}},
		{read, true, list(), Unknown, false, said{}},
		{read, true, list(text, text), Unknown, false, said{}},
		{read, true, list(text, text, text), Unknown, false, said{}},
		{read, true, list(number(1), text, number(1)), Unknown, false, said{}},
		{read, true, wrong, Unknown, false, said{}},
		{get, true, text, Granted, true, said{value: "t", typ: "string", named: true}},
		{get, true, none, Granted, true, said{absent: true}},
		{get, true, wrong, Granted, true, ofAnotherType},
		{get, true, number(1), Unknown, false, said{}},
		{get, true, held, Unknown, false, said{}},

		{remove, true, held, Granted, true, said{value: "t", typ: "string", left: 500, named: true}},
		{remove, true, hash, Granted, true, said{typ: "hash", left: saysNoTTL}},
		{remove, true, absent, Refused, false, said{absent: true}},
		{remove, true, number(1), Unknown, false, said{}},
		{remove, true, none, Unknown, false, said{}},

		{write, true, wrote("+", text), Granted, true, said{reply: Reply{Kind: StatusReply, Str: "t"}, journal: &undo}},
		{write, true, wrote("_", none), Granted, false, said{reply: Reply{Kind: NilReply}}},
		{write, true, wrote(":", number(3)), Granted, true, said{reply: Reply{Kind: IntegerReply, Int: 3}, journal: &undo}},
		{write, true, wrote(":", number(0)), Granted, false, said{reply: Reply{Kind: IntegerReply}}},
		{write, true, wrote("-", wrong), Granted, false, said{reply: Reply{Kind: FailureReply, Str: wrong.str}}},
		{write, true, wrote("-", failure("OOM x")), Unknown, false, said{}},
		{write, true, wrote("?", text), Unknown, false, said{}},
		{write, true, failure("ERR syntax error"), Granted, false, said{reply: Reply{Kind: FailureReply, Str: "ERR syntax error"}}},
		{write, true, failure("OOM x"), Unknown, false, said{}},
		{write, true, list(), Unknown, false, said{}},
		{write, true, status, Unknown, false, said{}},
		{old, true, wrote("$", text), Granted, true, said{reply: Reply{Kind: BulkReply, Str: "t"}, journal: &undo}},
		{old, true, wrote("_", none), Granted, true, said{reply: Reply{Kind: NilReply}, journal: &undo}},
		{oldXX, true, wrote("_", none), Granted, false, said{reply: Reply{Kind: NilReply}}},
		{named, true, wrote("_", none), Granted, false, said{reply: Reply{Kind: NilReply}}},
	} {
		v, did, s := c.r.judge(c.a, c.nxGet)
		if v != c.vote || did != c.did || !reflect.DeepEqual(s, c.said) {
			t.Errorf("%d: %+v answered to %v: %v, did %v, %+v; want %v, %v, %+v", i, c.a, c.r.Kind, v, did, s, c.vote, c.did, c.said)
		}
	}
}

// What a master says of itself is no answer to anything.
func TestTroubleOfAMasterIsAnUnknownVote(t *testing.T) {
	for _, text := range []string{
		"LOADING Redis is loading the dataset in memory",
		"READONLY You can't write against a read only replica.",
		"OOM command not allowed when used memory > 'maxmemory'.",
		"MISCONF Redis is configured to save RDB snapshots",
		"BUSY Redis is busy running a script.",
		"NOAUTH Authentication required.", "NOPERM this user has no permissions",
		"MASTERDOWN Link with MASTER is down", "NOREPLICAS Not enough good replicas to write.",
		"CLUSTERDOWN Hash slot not served", "MOVED 1 127.0.0.1:1", "NOSCRIPT No matching script.", "",
	} {
		for kind := Acquire; kind <= Write; kind++ {
			for _, nxGet := range []bool{false, true} {
				r := Request{Kind: kind}
				if v, did, s := r.judge(answer{kind: FailureReply, str: text}, nxGet); v != Unknown || did || !reflect.DeepEqual(s, said{}) {
					t.Errorf("%q to %v: %v, did %v, %+v", text, kind, v, did, s)
				}
			}
		}
	}
}
