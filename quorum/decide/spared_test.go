package decide

import (
	"slices"
	"testing"

	"redlock-proxy/quorum"
)

// What a script was given and masters have no change of is spared; what they have one of is not.
func TestKeysThatAScriptHasNotChangedAreTold(t *testing.T) {
	q := Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewPrinted(quorum.Printed{}), Spares: true, Key: "k", Keys: []string{"k", "j", "l"}}, Said: make([]Said, 3)}
	var c Votes
	for i := range q.Said {
		v, did, said := judgeRun(answered(FlagWrote+FlagStep, "k", "j"))
		r := &said.Journal.Found[1] // looked at, as time passes
		r.Before, r.Left, r.Expires = r.After, 1000, 999
		q.Said[i] = said
		c = c.Voted(i, v, did)
	}
	if r := q.Result(c.With(quorum.Won)); !slices.Equal(r.Spared, []string{"j", "l"}) {
		t.Errorf("spared are %q", r.Spared)
	}
}

// A script with one key has changed that if it has done anything, unless it may have done that to
// others of its tag.
func TestKeyOfAScriptThatHasChangedAnotherIsTold(t *testing.T) {
	script := quorum.NewPrinted(quorum.Printed{})
	for _, test := range []struct {
		script  *quorum.Script
		changed string
		spared  bool
	}{
		{script, "{k}:x", true},
		{script, "k", false},
		{script.Confined(), "k", false},
	} {
		q := Question{Request: quorum.Request{Kind: quorum.Run, Script: test.script, Spares: true, Key: "k", Keys: []string{"k"}}, Said: make([]Said, 3)}
		var c Votes
		for i := range q.Said {
			v, did, said := judgeRun(answered(FlagWrote, test.changed))
			q.Said[i] = said
			c = c.Voted(i, v, did)
		}
		if r := q.Result(c.With(quorum.Won)); (len(r.Spared) > 0) != test.spared {
			t.Errorf("of %s changed, spared are %q", test.changed, r.Spared)
		}
	}
}

// The reply to a write tells whether it has changed anything.
func TestKeyThatAWriteHasNotChangedIsTold(t *testing.T) {
	for _, test := range []struct {
		reply  quorum.Reply
		spared bool
	}{
		{quorum.Reply{Kind: quorum.IntegerReply}, true},
		{quorum.Reply{Kind: quorum.IntegerReply, Int: 1}, false},
	} {
		q := Question{Request: quorum.Request{Kind: quorum.Write, Spares: true, Key: "k", Args: []string{"PERSIST", "k"}}, Said: make([]Said, 3)}
		var c Votes
		for i := range q.Said {
			q.Said[i].Reply = test.reply
			c = c.Voted(i, quorum.Granted, test.reply.Int != 0)
		}
		if r := q.Result(c.With(quorum.Won)); (len(r.Spared) > 0) != test.spared {
			t.Errorf("%+v: spared are %q", test.reply, r.Spared)
		}
	}
}
