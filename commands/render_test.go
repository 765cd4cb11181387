package commands

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/commands/recognise"
	"redlock-proxy/quorum"
)

// What is said where one of three masters could vote, and where all have and no two alike.
const (
	renderedNoQuorum = "-NOQUORUM 1 of 3 masters can vote, 2 are needed"
	renderedNoTwo    = "-NOQUORUM 3 of 3 masters voted, but no 2 of them alike"
)

// rendered are results by what they are of.
var rendered = struct {
	won, contended, split, none, short, refused, wrongType, held, taken, forEver quorum.Result
}{
	won:       quorum.Result{Decision: quorum.Won, Voted: 3, Needed: 2, Masters: 3},
	contended: quorum.Result{Decision: quorum.Contended, Voted: 3, Needed: 2, Masters: 3},
	split:     quorum.Result{Decision: quorum.Split, Voted: 3, Needed: 2, Masters: 3},
	none:      quorum.Result{Decision: quorum.Unavailable, Voted: 1, Needed: 2, Masters: 3},
	short:     quorum.Result{Decision: quorum.Unavailable, Needed: 2, Masters: 3, Shortest: 20 * time.Millisecond},
	refused:   quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "ERR no"}},
	wrongType: quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply, Str: errWrongType}},
	held:      quorum.Result{Decision: quorum.Won, Exists: true, Type: "string", Value: "tok", TTL: 1500 * time.Millisecond},
	taken:     quorum.Result{Decision: quorum.Contended, Exists: true, Value: "tok"},
	forEver:   quorum.Result{Decision: quorum.Won, Exists: true, Type: "list", TTL: quorum.NoTTL},
}

var decisionRows = []struct {
	line, want string
	results    []quorum.Result
}{
	{"MGET k j k", "*3 $tok _ $tok", []quorum.Result{rendered.held, {Decision: quorum.Won}}},
	{"SET k t NX", "+OK", []quorum.Result{rendered.won}},
	{"SET k t NX", "_", []quorum.Result{rendered.contended}},
	{"SET k t NX", "_", []quorum.Result{rendered.split}},
	{"SET k t NX", "_", []quorum.Result{rendered.wrongType}},
	{"SET k t NX", renderedNoQuorum, []quorum.Result{rendered.none}},
	{"SET k t NX", "-ERR no", []quorum.Result{rendered.refused}},
	{"SET k t NX PX 1", "-ERR the ttl is too short: half of it was over before the masters had decided, so ask for 20 ms or more", []quorum.Result{rendered.short}},
	{"SET k t NX GET", "_", []quorum.Result{rendered.won}},
	{"SET k t NX GET", "$tok", []quorum.Result{rendered.taken}},
	{"SET k t NX GET", renderedNoTwo, []quorum.Result{rendered.contended}},
	{"SET k t NX GET", renderedNoTwo, []quorum.Result{rendered.split}},
	{"SET k t NX GET", "-" + errWrongType, []quorum.Result{rendered.wrongType}},
	{"SETNX k t", ":1", []quorum.Result{rendered.won}},
	{"SETNX k t", ":0", []quorum.Result{rendered.taken}},
	{"SETNX k t", ":0", []quorum.Result{rendered.split}},
	{"SETNX k t", ":0", []quorum.Result{rendered.wrongType}},
	{"SETNX k t", renderedNoQuorum, []quorum.Result{rendered.none}},

	{"SET k v", renderedNoTwo, []quorum.Result{rendered.split}},
	{"SET k v", renderedNoQuorum, []quorum.Result{rendered.none}},
	{"SET k v", "-ERR no", []quorum.Result{rendered.refused}},
	{"EXPIRE k 3", renderedNoTwo, []quorum.Result{rendered.split}},

	{"GET k", "$tok", []quorum.Result{rendered.held}},
	{"GET k", "_", []quorum.Result{rendered.won}},
	{"GET k", "-" + errWrongType, []quorum.Result{rendered.forEver}},
	{"GET k", renderedNoTwo, []quorum.Result{rendered.split}},
	{"GET k", renderedNoQuorum, []quorum.Result{rendered.none}},
	{"STRLEN k", ":3", []quorum.Result{rendered.held}},
	{"STRLEN k", "-" + errWrongType, []quorum.Result{rendered.forEver}},
	{"TYPE k", "+list", []quorum.Result{rendered.forEver}},
	{"TTL k", ":2", []quorum.Result{rendered.held}},
	{"PTTL k", ":1500", []quorum.Result{rendered.held}},
	{"TTL k", ":-1", []quorum.Result{rendered.forEver}},
	{"TTL k", ":-2", []quorum.Result{rendered.won}},
	{"PTTL k", renderedNoQuorum, []quorum.Result{rendered.none}},
	{"EXISTS k j l", ":2", []quorum.Result{rendered.held, rendered.won, rendered.forEver}},
	{"EXISTS k j", renderedNoQuorum, []quorum.Result{rendered.held, rendered.none}},
	{"EXISTS k j", renderedNoTwo, []quorum.Result{rendered.split, rendered.held}},

	{"DEL k j", ":1", []quorum.Result{rendered.won, rendered.contended}},
	{"DEL k j", renderedNoQuorum, []quorum.Result{rendered.won, rendered.none}},
	{"UNLINK k", renderedNoTwo, []quorum.Result{rendered.split}},
	{"EXPIRE k 0", ":1", []quorum.Result{rendered.won}},
	{"EXPIRE k 0", ":0", []quorum.Result{rendered.contended}},

	{"EVALSHA f 1 k t", "+yes", []quorum.Result{rendered.won}},
	{"EVALSHA f 1 k t", "+other", []quorum.Result{rendered.contended}},
	{"EVALSHA f 1 k t", "+absent", []quorum.Result{{Decision: quorum.Contended, Absent: true}}},
	{"EVALSHA f 1 k t", renderedNoQuorum, []quorum.Result{rendered.none}},
	{"EVALSHA f 1 k t", renderedNoTwo, []quorum.Result{rendered.split}},
	{"EVALSHA f 1 k t", "-" + errWrongType + " script: f, on @user_script:1.", []quorum.Result{rendered.wrongType}},
}

func TestDecisionsReadAsReplies(t *testing.T) {
	for _, test := range decisionRows {
		d := NewDialect(Options{})
		release := &script{sha: "f", known: true, shape: recognise.Shape{
			Class: quorum.Release, Key: 1, Token: 1, Yes: status("yes"), Other: status("other"), Absent: status("absent")}}
		a := do(t, d.Session(1), rename(d, release, test.line))
		if len(a.Requests) != len(test.results) {
			t.Fatalf("%s: %d requests", test.line, len(a.Requests))
		}
		reply, next := a.Render.Render(test.results)
		if got := strings.Join(lines(nil, reply, 2), " "); got != test.want || next.Requests != nil {
			t.Errorf("%s, %v: %s, want %s", test.line, test.results[0].Decision, got, test.want)
		}
	}
}
