package decide

import (
	"slices"
	"testing"

	"redlock-proxy/quorum"
)

// answered is a master's answer to a journaled script that said 1, with a record of each key.
func answered(flags int64, keys ...string) Answer {
	integer := func(n int64) Answer { return Answer{Kind: quorum.IntegerReply, Int: n} }
	e := []Answer{integer(flags), integer(-1), {Kind: quorum.BulkReply, Str: ":"}, integer(int64(len(keys)))}
	for _, key := range keys {
		e = append(e, bulks(key, "")...)
		e = append(e, integer(SaysAbsent))
		e = append(e, bulks("made")...)
		e = append(e, integer(SaysNoTTL))
	}
	return Answer{Kind: quorum.ArrayReply, Elems: append(e, bulks("1")...)}
}

// The keys that a script was not given and has written to on some master are told once each.
func TestKeysThatAScriptHasReachedAreTold(t *testing.T) {
	q := Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewPrinted(quorum.Printed{}), Key: "k", Keys: []string{"k", "j"}}, Said: make([]Said, 3)}
	var c Votes
	for i, a := range []Answer{
		answered(FlagWrote+flagReached, "k", "{k}:a"),
		answered(FlagWrote+flagReached, "{k}:b", "j", "{k}:a"),
		answered(FlagWrote, "k"),
	} {
		v, did, said := judgeRun(a)
		q.Said[i] = said
		c = c.Voted(i, v, did)
		if kept := said.Journal.KeptToItsKeys(); kept != (i == 2) {
			t.Errorf("master %d: it kept to its keys: %v", i+1, kept)
		}
	}
	if r := q.Result(c.With(quorum.Won)); !slices.Equal(r.Others, []string{"{k}:a", "{k}:b"}) {
		t.Errorf("told are %q", r.Others)
	}
	if _, _, said := judgeRun(Answer{Kind: quorum.FailureReply, Str: "ERR x"}); said.Journal.KeptToItsKeys() {
		t.Error("what did not run is known to have kept to its keys")
	}
}

// Of an exact step a quorum must have changed the same keys: what one master alone has written to
// is not the same on the others.
func TestExactStepsDifferInAKeyThatOneHasReached(t *testing.T) {
	read := func(a Answer) *Journal {
		j, ok := readJournal(a)
		if !ok {
			t.Fatal("it cannot be read")
		}
		return j
	}
	one := read(answered(FlagWrote+FlagStep+flagReached, "k", "{k}:a"))
	other := read(answered(FlagWrote+FlagStep, "k"))
	if one.sameChanges(other) || other.sameChanges(one) {
		t.Error("what one master alone has written to is the same on both")
	}
	if again := read(answered(FlagWrote+FlagStep+flagReached, "k", "{k}:a")); !one.sameChanges(again) {
		t.Error("what both have made is not the same")
	}
	one.Found[1].After, one.Found[1].Expires = "", SaysAbsent // it was looked for in vain
	if !one.sameChanges(other) || !other.sameChanges(one) {
		t.Error("what nobody has changed is not the same")
	}
}

// A script may say no, and have removed something: it is told that it has.
func TestScriptThatSaysNoTellsWhatItHasRemoved(t *testing.T) {
	removed := answered(FlagRemoved, "k")
	removed.Elems[2].Str, removed.Elems = "_", removed.Elems[:len(removed.Elems)-1]
	for _, test := range []struct {
		answer Answer
		tidied bool
	}{
		{removed, true},
		{Answer{Kind: quorum.ArrayReply, Elems: []Answer{{Kind: quorum.IntegerReply}, {Kind: quorum.IntegerReply, Int: -1}, {Kind: quorum.BulkReply, Str: "_"}, {Kind: quorum.IntegerReply}}}, false},
		{Answer{Kind: quorum.FailureReply, Str: "ERR it does not compile"}, false},
	} {
		q := Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewPrinted(quorum.Printed{}), Key: "k", Keys: []string{"k"}}, Said: make([]Said, 3)}
		var c Votes
		for i := range q.Said {
			v, did, said := judgeRun(test.answer)
			q.Said[i] = said
			c = c.Voted(i, v, did)
		}
		if r := q.Result(c.With(q.Decide(c))); r.Decision != quorum.Contended || r.Tidied != test.tidied {
			t.Errorf("%+v: %v, it has removed something: %v", test.answer, r.Decision, r.Tidied)
		}
	}
}

// A step that has removed something has acted, whatever it says: it holds a latch, and can be taken back. A lock's script
// that has tidied up has not for its no.
func TestStepThatRemovesAndSaysNoHasActed(t *testing.T) {
	for flags, want := range map[int64]quorum.Vote{FlagRemoved + FlagStep: quorum.Granted, FlagRemoved: quorum.Refused, FlagStep: quorum.Refused} {
		a := answered(flags, "k")
		a.Elems[len(a.Elems)-1].Str = "0"
		if v, did, _ := judgeRun(a); v != want || did != (want == quorum.Granted) {
			t.Errorf("flags %d: the vote is %v, and it has acted: %v", flags, v, did)
		}
	}
}
