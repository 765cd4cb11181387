package decide

import (
	"reflect"
	"testing"

	"redlock-proxy/quorum"
)

// What a master may answer.
var (
	status = Answer{Kind: quorum.BulkReply, Str: "OK"} // told like a bulk string
	text   = Answer{Kind: quorum.BulkReply, Str: "t"}
	none   = Answer{Kind: quorum.NilReply}
	wrong  = failure("WRONGTYPE Operation against a key holding the wrong kind of value")
	held   = list(Answer{Kind: quorum.BulkReply, Str: "string"}, text, number(500))
	hash   = list(Answer{Kind: quorum.BulkReply, Str: "hash"}, Answer{Kind: quorum.BulkReply}, number(-1))
	absent = list(Answer{Kind: quorum.BulkReply, Str: "none"})
)

func number(n int64) Answer   { return Answer{Kind: quorum.IntegerReply, Int: n} }
func failure(s string) Answer { return Answer{Kind: quorum.FailureReply, Str: s} }
func list(elems ...Answer) Answer {
	return Answer{Kind: quorum.ArrayReply, Elems: append([]Answer{}, elems...)}
}

// wrote is what the script of a write answers, with its undo record.
func wrote(kind string, value Answer) Answer {
	return list(Answer{Kind: quorum.BulkReply, Str: kind}, value,
		Answer{Kind: quorum.BulkReply, Str: "before"}, number(500), number(SaysNoTTL))
}

// What it may have been asked.
var (
	plain   = quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t"}
	release = quorum.Request{Kind: quorum.Release}
	extend  = quorum.Request{Kind: quorum.Extend}
	remove  = quorum.Request{Kind: quorum.Remove}
	read    = quorum.Request{Kind: quorum.Read}
	get     = quorum.Request{Kind: quorum.Read, ValueOnly: true}
	write   = quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "v"}}
	old     = quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "v", "GET"}}
	oldXX   = quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "v", "XX", "GET"}}
	named   = quorum.Request{Kind: quorum.Write, Key: "k", Args: []string{"SET", "k", "GET"}}
)

// undo is what wrote tells how to undo.
var undo = Journal{Undo: undoRecords, Found: undoRecords}

var undoRecords = []UndoRecord{{Key: "k", Before: "before", Left: 500, After: "v", Expires: SaysNoTTL}}

// refused is what is read from an error that says no more than its text.
func refused(s string) Said { return Said{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: s}} }

// judged is every kind of request against every type of reply that a master can give. A
// reply that the request cannot have is no vote.
var judged = []struct {
	r    quorum.Request
	a    Answer
	vote quorum.Vote
	did  bool
	said Said
}{
	{plain, none, quorum.Granted, true, Said{}},
	{plain, text, quorum.Refused, false, Said{Value: "t", typ: "string", Named: true}},
	{plain, status, quorum.Refused, false, Said{Value: "OK", typ: "string", Named: true}},
	{plain, wrong, quorum.Refused, false, ofAnotherType},
	{plain, number(1), quorum.Unknown, false, Said{}},
	{plain, list(), quorum.Unknown, false, Said{}},
	{plain, failure("ERR syntax error"), quorum.Unknown, false, refused("ERR syntax error")},

	{release, number(0), quorum.Granted, true, Said{Left: 0}},
	{release, number(700), quorum.Granted, true, Said{Left: 700}},
	{release, number(SaysNoTTL), quorum.Granted, true, Said{Left: SaysNoTTL}},
	{release, number(SaysAbsent), quorum.Refused, false, Said{Absent: true}},
	{release, number(SaysOther), quorum.Refused, false, Said{}},
	{release, number(-4), quorum.Unknown, false, Said{}},
	{release, wrong, quorum.Refused, false, ofAnotherType},
	{release, none, quorum.Unknown, false, Said{}},
	{release, status, quorum.Unknown, false, Said{}},
	{release, held, quorum.Unknown, false, Said{}},
	{release, failure("ERR x"), quorum.Unknown, false, refused("ERR x")},
	{release, failure("ERR Error running script: WRONGTYPE Operation against"), quorum.Refused, false, ofAnotherType},
	{extend, number(1), quorum.Granted, true, Said{Left: 1}},
	{extend, number(SaysAbsent), quorum.Refused, false, Said{Absent: true}},
	{extend, number(SaysOther), quorum.Refused, false, Said{}},
	{extend, none, quorum.Unknown, false, Said{}},

	{read, held, quorum.Granted, true, Said{Value: "t", typ: "string", Left: 500, Named: true}},
	{read, hash, quorum.Granted, true, Said{typ: "hash", Left: SaysNoTTL}},
	{read, absent, quorum.Granted, true, Said{Absent: true}},
	{read, none, quorum.Unknown, false, Said{}},
	{read, text, quorum.Unknown, false, Said{}},
	{read, list(), quorum.Unknown, false, Said{}},
	{read, list(text, text), quorum.Unknown, false, Said{}},
	{read, list(text, text, text), quorum.Unknown, false, Said{}},
	{read, list(number(1), text, number(1)), quorum.Unknown, false, Said{}},
	{read, wrong, quorum.Unknown, false, refused(wrong.Str)},
	{get, text, quorum.Granted, true, Said{Value: "t", typ: "string", Named: true}},
	{get, none, quorum.Granted, true, Said{Absent: true}},
	{get, wrong, quorum.Granted, true, ofAnotherType},
	{get, number(1), quorum.Unknown, false, Said{}},
	{get, held, quorum.Unknown, false, Said{}},

	{remove, held, quorum.Granted, true, Said{Value: "t", typ: "string", Left: 500, Named: true}},
	{remove, hash, quorum.Granted, true, Said{typ: "hash", Left: SaysNoTTL}},
	{remove, absent, quorum.Refused, false, Said{Absent: true}},
	{remove, number(1), quorum.Unknown, false, Said{}},
	{remove, none, quorum.Unknown, false, Said{}},

	{write, wrote("+", text), quorum.Granted, true, Said{Reply: quorum.Reply{Kind: quorum.StatusReply, Str: "t"}, Journal: &undo}},
	{write, wrote("_", none), quorum.Granted, false, Said{Left: SaysNoTTL, Reply: quorum.Reply{Kind: quorum.NilReply}}},
	{write, wrote(":", number(3)), quorum.Granted, true, Said{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 3}, Journal: &undo}},
	{write, wrote(":", number(0)), quorum.Granted, false, Said{Left: SaysNoTTL, Reply: quorum.Reply{Kind: quorum.IntegerReply}}},
	{write, wrote("-", wrong), quorum.Granted, false, refused(wrong.Str)},
	{write, wrote("-", failure("OOM x")), quorum.Unknown, false, refused("OOM x")},
	{write, wrote("?", text), quorum.Unknown, false, Said{}},
	{write, failure("ERR syntax error"), quorum.Granted, false, refused("ERR syntax error")},
	{write, failure("OOM x"), quorum.Unknown, false, refused("OOM x")},
	{write, list(), quorum.Unknown, false, Said{}},
	{write, status, quorum.Unknown, false, Said{}},
	{old, wrote("$", text), quorum.Granted, true, Said{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: "t"}, Journal: &undo}},
	{old, wrote("_", none), quorum.Granted, true, Said{Reply: quorum.Reply{Kind: quorum.NilReply}, Journal: &undo}},
	{oldXX, wrote("_", none), quorum.Granted, false, Said{Left: SaysNoTTL, Reply: quorum.Reply{Kind: quorum.NilReply}}},
	{named, wrote("_", none), quorum.Granted, false, Said{Left: SaysNoTTL, Reply: quorum.Reply{Kind: quorum.NilReply}}},
}

func TestReplyIsJudgedByWhatWasAsked(t *testing.T) {
	for i, c := range judged {
		v, did, s := Judge(&c.r, c.a)
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
		if got := WithoutLua(text); got != want {
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
		for kind := quorum.Acquire; kind <= quorum.Write; kind++ {
			r := quorum.Request{Kind: kind}
			if v, did, s := Judge(&r, Answer{Kind: quorum.FailureReply, Str: text}); v != quorum.Unknown || did || s.Refusal() != text {
				t.Errorf("%q to %v: %v, did %v, %+v", text, kind, v, did, s)
			}
		}
	}
}

func TestKeyThatIsForbiddenIsToldFromACommand(t *testing.T) {
	for text, want := range map[string]bool{
		"NOPERM this user has no permissions to access one of the keys used as arguments":                                                                  true, // 6.2 and 7.0
		"NOPERM No permissions to access a key":                                                                                                            true, // later
		"NOPERM ACL failure in script: No permissions to access a key script: 1, on @user_script:1.":                                                       true, // later
		"ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: 1, on @user_script:1.":         true, // 7.0
		"ERR Error running script: @user_script:1: The user executing the script can't access at least one of the keys mentioned in the command arguments": true, // 6.2
		"NOPERM this user has no permissions to run the 'eval' command or its subcommand":                                                                  false,
		"NOPERM User locks has no permissions to run the 'eval' command":                                                                                   false,
		"ERR syntax error": false,
	} {
		if got := (Answer{Kind: quorum.FailureReply, Str: text}).ForbidsKey(); got != want {
			t.Errorf("%v: %q", got, text)
		}
	}
	if (Answer{Kind: quorum.BulkReply, Str: "NOPERM No permissions to access a key"}).ForbidsKey() {
		t.Error("a value is taken for an error")
	}
}
