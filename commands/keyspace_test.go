package commands

import (
	"testing"

	"redlock-proxy/quorum"
)

// answersOf is a survey's result: nil is no answer.
func answersOf(replies ...*quorum.ScriptReply) quorum.Result {
	r := quorum.Result{Decision: quorum.Won, Masters: len(replies), Needed: len(replies)/2 + 1}
	for _, reply := range replies {
		a := quorum.SurveyAnswer{}
		if reply != nil {
			a = quorum.SurveyAnswer{Given: true, Reply: *reply}
			r.Voted++
		}
		r.Answers = append(r.Answers, a)
	}
	if r.Voted < r.Needed {
		r.Decision = quorum.Unavailable
	}
	return r
}

func numbered(n int64) *quorum.ScriptReply {
	return &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}}
}

func failing(text string) *quorum.ScriptReply {
	return &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: text}}
}

func TestSizeIsWhatAQuorumHasAsManyOf(t *testing.T) {
	for _, c := range []struct {
		given []*quorum.ScriptReply
		want  Reply
	}{
		{[]*quorum.ScriptReply{numbered(0)}, Integer(0)},
		{[]*quorum.ScriptReply{numbered(7)}, Integer(7)},
		{[]*quorum.ScriptReply{numbered(1), numbered(9), numbered(5)}, Integer(5)},
		{[]*quorum.ScriptReply{numbered(9), nil, numbered(5)}, Integer(5)},
		{[]*quorum.ScriptReply{numbered(1), numbered(2), numbered(3), numbered(4)}, Integer(2)},
		{[]*quorum.ScriptReply{numbered(5), numbered(4), numbered(3), numbered(2), numbered(1)}, Integer(3)},
		{[]*quorum.ScriptReply{numbered(5), nil, numbered(3), numbered(2), nil}, Integer(2)},
		{[]*quorum.ScriptReply{numbered(5), nil, nil}, Error("NOQUORUM 1 of 3 masters can vote, 2 are needed")},
		{[]*quorum.ScriptReply{numbered(5), failing("ERR unknown command"), nil}, Error("NOQUORUM 1 of 3 masters gave an answer, 2 are needed")},
	} {
		r, own := answersOf(c.given...), answersOf(c.given...)
		for i := range own.Answers {
			own.Answers[i].Reply = *numbered(0)
		}
		if got, _ := (counted{}).Render([]quorum.Result{r, own}); got.Kind != c.want.Kind || got.Int != c.want.Int || got.Str != c.want.Str {
			t.Errorf("%+v: %+v, want %+v", r, got, c.want)
		}
	}
}

func TestSizeLeavesOutTheProxysOwnKeys(t *testing.T) {
	sizes := answersOf(numbered(4), numbered(9), numbered(3))
	own := answersOf(numbered(1), nil, numbered(0))
	if got, _ := (counted{}).Render([]quorum.Result{sizes, own}); got.Int != 3 {
		t.Errorf("%+v, want 3", got)
	}
	own.Answers[2].Given = false
	if got, _ := (counted{}).Render([]quorum.Result{sizes, own}); got.Str != "NOQUORUM 1 of 3 masters gave an answer, 2 are needed" {
		t.Errorf("%+v", got)
	}
}

func TestFlushIsDoneWhenAQuorumSaysSo(t *testing.T) {
	ok := bulkOf("OK")
	refused := failing("ERR unknown command 'FLUSHALL'")
	for _, c := range []struct {
		given []*quorum.ScriptReply
		want  Reply
	}{
		{[]*quorum.ScriptReply{&ok, &ok, &ok}, OK},
		{[]*quorum.ScriptReply{&ok, nil, &ok}, OK},
		{[]*quorum.ScriptReply{&ok, refused, &ok}, OK},
		{[]*quorum.ScriptReply{&ok, refused, refused}, Error("ERR unknown command 'FLUSHALL'")},
		{[]*quorum.ScriptReply{&ok, refused, nil}, Error("ERR unknown command 'FLUSHALL'")},
		{[]*quorum.ScriptReply{&ok, nil, nil}, Error("NOQUORUM 1 of 3 masters can vote, 2 are needed")},
	} {
		r := answersOf(c.given...)
		if got, _ := (flushed{}).Render([]quorum.Result{r}); got.Kind != c.want.Kind || got.Str != c.want.Str {
			t.Errorf("%+v: %+v, want %+v", r, got, c.want)
		}
	}
}

func TestWhatIsDangerousIsAllowedByItsOption(t *testing.T) {
	h := newHouse(Options{Users: everybodyOperates})
	client, _ := h.dial(1)
	g := client.(*guest)
	for _, c := range []struct {
		command, want string
	}{
		{"SET a t NX PX 1000", "+OK"},
		{"KEYS [ab]", "*1 $a"},
		{"KEYS b*", "*0"},
		{"FLUSHALL NOW", "-ERR syntax error"},
		{"FLUSHDB ASYNC SYNC", "-ERR syntax error"},
		{"FLUSHDB", "+OK"},
		{"DBSIZE", ":0"},
		{"SET a t NX PX 1000", "+OK"},
		{"flushall async", "+OK"},
		{"KEYS *", "*0"},
	} {
		got := ""
		for i, line := range lines(nil, g.carryOut(do(t, g.session, c.command)), 2) {
			if i > 0 {
				got += " "
			}
			got += line
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.command, got, c.want)
		}
	}
}
