package commands

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestDecisionsReadAsReplies(t *testing.T) {
	status := func(d quorum.Decision) quorum.Result {
		return quorum.Result{Decision: d, Voted: 3, Needed: 2, Masters: 3}
	}
	won, contended, split := status(quorum.Won), status(quorum.Contended), status(quorum.Split)
	none := quorum.Result{Decision: quorum.Unavailable, Voted: 1, Needed: 2, Masters: 3}
	short := quorum.Result{Decision: quorum.Unavailable, Needed: 2, Masters: 3, Shortest: 20 * time.Millisecond}
	refused := quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "ERR no"}}
	wrongType := quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply, Str: errWrongType}}
	held := quorum.Result{Decision: quorum.Won, Exists: true, Type: "string", Value: "tok", TTL: 1500 * time.Millisecond}
	taken := quorum.Result{Decision: quorum.Contended, Exists: true, Value: "tok"}
	forEver := quorum.Result{Decision: quorum.Won, Exists: true, Type: "list", TTL: quorum.NoTTL}
	const noQuorum = "-NOQUORUM 1 of 3 masters can vote, 2 are needed"
	const noTwo = "-NOQUORUM 3 of 3 masters voted, but no 2 of them alike"

	for _, test := range []struct {
		line, want string
		results    []quorum.Result
	}{
		{"MGET k j k", "*3 $tok _ $tok", []quorum.Result{held, {Decision: quorum.Won}}},
		{"SET k t NX", "+OK", []quorum.Result{won}},
		{"SET k t NX", "_", []quorum.Result{contended}},
		{"SET k t NX", "_", []quorum.Result{split}},
		{"SET k t NX", "_", []quorum.Result{wrongType}},
		{"SET k t NX", noQuorum, []quorum.Result{none}},
		{"SET k t NX", "-ERR no", []quorum.Result{refused}},
		{"SET k t NX PX 1", "-ERR the ttl is too short: half of it was over before the masters had decided, so ask for 20 ms or more", []quorum.Result{short}},
		{"SET k t NX GET", "_", []quorum.Result{won}},
		{"SET k t NX GET", "$tok", []quorum.Result{taken}},
		{"SET k t NX GET", noTwo, []quorum.Result{contended}},
		{"SET k t NX GET", noTwo, []quorum.Result{split}},
		{"SET k t NX GET", "-" + errWrongType, []quorum.Result{wrongType}},
		{"SETNX k t", ":1", []quorum.Result{won}},
		{"SETNX k t", ":0", []quorum.Result{taken}},
		{"SETNX k t", ":0", []quorum.Result{split}},
		{"SETNX k t", ":0", []quorum.Result{wrongType}},
		{"SETNX k t", noQuorum, []quorum.Result{none}},

		{"SET k v", noTwo, []quorum.Result{split}},
		{"SET k v", noQuorum, []quorum.Result{none}},
		{"SET k v", "-ERR no", []quorum.Result{refused}},
		{"EXPIRE k 3", noTwo, []quorum.Result{split}},

		{"GET k", "$tok", []quorum.Result{held}},
		{"GET k", "_", []quorum.Result{won}},
		{"GET k", "-" + errWrongType, []quorum.Result{forEver}},
		{"GET k", noTwo, []quorum.Result{split}},
		{"GET k", noQuorum, []quorum.Result{none}},
		{"STRLEN k", ":3", []quorum.Result{held}},
		{"STRLEN k", "-" + errWrongType, []quorum.Result{forEver}},
		{"TYPE k", "+list", []quorum.Result{forEver}},
		{"TTL k", ":2", []quorum.Result{held}},
		{"PTTL k", ":1500", []quorum.Result{held}},
		{"TTL k", ":-1", []quorum.Result{forEver}},
		{"TTL k", ":-2", []quorum.Result{won}},
		{"PTTL k", noQuorum, []quorum.Result{none}},
		{"EXISTS k j l", ":2", []quorum.Result{held, won, forEver}},
		{"EXISTS k j", noQuorum, []quorum.Result{held, none}},
		{"EXISTS k j", noTwo, []quorum.Result{split, held}},

		{"DEL k j", ":1", []quorum.Result{won, contended}},
		{"DEL k j", noQuorum, []quorum.Result{won, none}},
		{"UNLINK k", noTwo, []quorum.Result{split}},
		{"EXPIRE k 0", ":1", []quorum.Result{won}},
		{"EXPIRE k 0", ":0", []quorum.Result{contended}},

		{"EVALSHA f 1 k t", "+yes", []quorum.Result{won}},
		{"EVALSHA f 1 k t", "+other", []quorum.Result{contended}},
		{"EVALSHA f 1 k t", "+absent", []quorum.Result{{Decision: quorum.Contended, Absent: true}}},
		{"EVALSHA f 1 k t", noQuorum, []quorum.Result{none}},
		{"EVALSHA f 1 k t", noTwo, []quorum.Result{split}},
		{"EVALSHA f 1 k t", "-" + errWrongType + " script: f, on @user_script:1.", []quorum.Result{wrongType}},
	} {
		d := NewDialect(Options{})
		release := &script{sha: "f", known: true, shape: shape{
			class: quorum.Release, key: 1, token: 1, yes: Simple("yes"), other: Simple("other"), absent: Simple("absent")}}
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
