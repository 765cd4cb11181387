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
	refused := func(s string) said { return said{reply: Reply{Kind: FailureReply, Str: s}} }
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
			answer{kind: BulkReply, str: "before"}, number(500), number(saysNoTTL))
	}
	records := []undoRecord{{key: "k", before: "before", left: 500, after: "v", expires: saysNoTTL}}
	undo := journaled{undo: records, found: records}

	for i, c := range []struct {
		r    Request
		a    answer
		vote Vote
		did  bool
		said said
	}{
		{plain, none, Granted, true, said{}},
		{plain, text, Refused, false, said{value: "t", typ: "string", named: true}},
		{plain, status, Refused, false, said{value: "OK", typ: "string", named: true}},
		{plain, wrong, Refused, false, ofAnotherType},
		{plain, number(1), Unknown, false, said{}},
		{plain, list(), Unknown, false, said{}},
		{plain, failure("ERR syntax error"), Unknown, false, refused("ERR syntax error")},

		{release, number(0), Granted, true, said{left: 0}},
		{release, number(700), Granted, true, said{left: 700}},
		{release, number(saysNoTTL), Granted, true, said{left: saysNoTTL}},
		{release, number(saysAbsent), Refused, false, said{absent: true}},
		{release, number(saysOther), Refused, false, said{}},
		{release, number(-4), Unknown, false, said{}},
		{release, wrong, Refused, false, ofAnotherType},
		{release, none, Unknown, false, said{}},
		{release, status, Unknown, false, said{}},
		{release, held, Unknown, false, said{}},
		{release, failure("ERR x"), Unknown, false, refused("ERR x")},
		{release, failure("ERR Error running script: WRONGTYPE Operation against"), Refused, false, ofAnotherType},
		{extend, number(1), Granted, true, said{left: 1}},
		{extend, number(saysAbsent), Refused, false, said{absent: true}},
		{extend, number(saysOther), Refused, false, said{}},
		{extend, none, Unknown, false, said{}},

		{read, held, Granted, true, said{value: "t", typ: "string", left: 500, named: true}},
		{read, hash, Granted, true, said{typ: "hash", left: saysNoTTL}},
		{read, absent, Granted, true, said{absent: true}},
		{read, none, Unknown, false, said{}},
		{read, text, Unknown, false, said{}},
		{read, list(), Unknown, false, said{}},
		{read, list(text, text), Unknown, false, said{}},
		{read, list(text, text, text), Unknown, false, said{}},
		{read, list(number(1), text, number(1)), Unknown, false, said{}},
		{read, wrong, Unknown, false, refused(wrong.str)},
		{get, text, Granted, true, said{value: "t", typ: "string", named: true}},
		{get, none, Granted, true, said{absent: true}},
		{get, wrong, Granted, true, ofAnotherType},
		{get, number(1), Unknown, false, said{}},
		{get, held, Unknown, false, said{}},

		{remove, held, Granted, true, said{value: "t", typ: "string", left: 500, named: true}},
		{remove, hash, Granted, true, said{typ: "hash", left: saysNoTTL}},
		{remove, absent, Refused, false, said{absent: true}},
		{remove, number(1), Unknown, false, said{}},
		{remove, none, Unknown, false, said{}},

		{write, wrote("+", text), Granted, true, said{reply: Reply{Kind: StatusReply, Str: "t"}, journal: &undo}},
		{write, wrote("_", none), Granted, false, said{reply: Reply{Kind: NilReply}}},
		{write, wrote(":", number(3)), Granted, true, said{reply: Reply{Kind: IntegerReply, Int: 3}, journal: &undo}},
		{write, wrote(":", number(0)), Granted, false, said{reply: Reply{Kind: IntegerReply}}},
		{write, wrote("-", wrong), Granted, false, refused(wrong.str)},
		{write, wrote("-", failure("OOM x")), Unknown, false, refused("OOM x")},
		{write, wrote("?", text), Unknown, false, said{}},
		{write, failure("ERR syntax error"), Granted, false, refused("ERR syntax error")},
		{write, failure("OOM x"), Unknown, false, refused("OOM x")},
		{write, list(), Unknown, false, said{}},
		{write, status, Unknown, false, said{}},
		{old, wrote("$", text), Granted, true, said{reply: Reply{Kind: BulkReply, Str: "t"}, journal: &undo}},
		{old, wrote("_", none), Granted, true, said{reply: Reply{Kind: NilReply}, journal: &undo}},
		{oldXX, wrote("_", none), Granted, false, said{reply: Reply{Kind: NilReply}}},
		{named, wrote("_", none), Granted, false, said{reply: Reply{Kind: NilReply}}},
	} {
		v, did, s := c.r.judge(c.a)
		if v != c.vote || did != c.did || !reflect.DeepEqual(s, c.said) {
			t.Errorf("%d: %+v answered to %v: %v, did %v, %+v; want %v, %v, %+v", i, c.a, c.r.Kind, v, did, s, c.vote, c.did, c.said)
		}
	}
}

// Before 7.0, what a master says of itself in a script has an error of Lua around it.
func TestWhatAMasterSaysOfItselfInAScriptIsTakenOutOfLua(t *testing.T) {
	const place = "ERR Error running script (call to f_0123): @user_script:1: @user_script: 12: "
	for text, want := range map[string]string{
		place + "-OOM command not allowed when used memory > 'maxmemory'.\r\n": "OOM command not allowed when used memory > 'maxmemory'.",
		place + "-READONLY You can't write against a read only replica.":       "READONLY You can't write against a read only replica.",
		"@user_script: 3: -MISCONF Redis is configured to save":                "MISCONF Redis is configured to save",
		place + "Wrong number of args calling Redis command From Lua script":   place + "Wrong number of args calling Redis command From Lua script",
		"ERR Error running script: my own: -OOM":                               "ERR Error running script: my own: -OOM",
		"ERR bad: @user_script: 1: -OOM":                                       "ERR bad: @user_script: 1: -OOM",
		"OOM command not allowed":                                              "OOM command not allowed",
	} {
		if got := withoutLua(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
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
		"CLUSTERDOWN Hash slot not served", "ERR unknown command 'EVALSHA'", "MOVED 1 127.0.0.1:1", "NOSCRIPT No matching script.", "",
	} {
		for kind := Acquire; kind <= Write; kind++ {
			r := Request{Kind: kind}
			if v, did, s := r.judge(answer{kind: FailureReply, str: text}); v != Unknown || did || s.refusal() != text {
				t.Errorf("%q to %v: %v, did %v, %+v", text, kind, v, did, s)
			}
		}
	}
}
