package decide

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

func bulks(values ...string) (a []Answer) {
	for _, v := range values {
		a = append(a, Answer{Kind: quorum.BulkReply, Str: v})
	}
	return a
}

func TestShapeTellsWhatAReplyIs(t *testing.T) {
	number := func(n int64) quorum.ScriptReply {
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}}
	}
	for _, c := range []struct {
		shape  string
		values []Answer
		want   quorum.ScriptReply
	}{
		{"_", nil, ofKind(quorum.NilReply, "")},
		{"$", bulks("a"), ofKind(quorum.BulkReply, "a")},
		{"+", bulks("OK"), ofKind(quorum.StatusReply, "OK")},
		{"-", bulks("ERR x"), ofKind(quorum.FailureReply, "ERR x")},
		{":", bulks("-7"), number(-7)},
		{"*0;", nil, ofKind(quorum.ArrayReply, "")},
		{"*3;:_*1;$", bulks("1", "x"), quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{
			number(1), ofKind(quorum.NilReply, ""),
			{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{ofKind(quorum.BulkReply, "x")}},
		}}},
	} {
		got, rest, ok := readShape(c.shape, c.values)
		if !ok || len(rest) > 0 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v; want %+v", c.shape, got, ok, c.want)
		}
	}
	for _, bad := range []string{"", "$", "*2;_", "*-1;", "*x;", "?", "_:", "*99999999;", strings.Repeat("*1;", 20) + "_"} {
		if r, _, ok := readShape(bad, nil); ok {
			t.Errorf("%q reads as %+v", bad, r)
		}
	}
	if _, rest, ok := readShape(":", bulks("1", "2")); !ok || len(rest) != 1 {
		t.Error("what does not belong to the reply is not left")
	}
}

func FuzzShapeIsReadWithoutHarm(f *testing.F) {
	f.Add("*3;:_*1;$", "1")
	f.Fuzz(func(t *testing.T, shape, value string) {
		readShape(shape, bulks(value, value, value))
	})
}

// What is left of a ttl differs from master to master. The answer is what a
// quorum still holds: never more.
func TestRemainingTTLOfAScriptIsTheQuorumThLargest(t *testing.T) {
	left := func(n int64) quorum.ScriptReply {
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}, Left: true}
	}
	pair := func(n int64) quorum.ScriptReply {
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{ofKind(quorum.BulkReply, "t"), left(n)}}
	}
	a, b, c := left(100), left(300), left(200)
	if !a.Alike(&b) {
		t.Error("remaining ttls are not alike")
	}
	if got := merge([]quorum.ScriptReply{a, b, c}, 2).Int; got != 200 {
		t.Errorf("of three, %d", got)
	}
	if got := merge([]quorum.ScriptReply{a, b}, 2).Int; got != 100 {
		t.Errorf("of two, %d", got)
	}
	if got := merge([]quorum.ScriptReply{b}, 2).Int; got != 300 {
		t.Errorf("of one, %d", got)
	}
	if got := merge([]quorum.ScriptReply{pair(5), pair(9), pair(7)}, 2).Elems[1].Int; got != 7 {
		t.Errorf("within an array, %d", got)
	}
	plain, other := pair(5), pair(5)
	other.Elems[1].Left = false
	other.Elems[1].Int = 6
	if plain.Alike(&other) {
		t.Error("a ttl is like any number")
	}
}

// Every count of votes for N up to 7, against the rule in words.
func TestScriptIsDecidedByEffectAndReply(t *testing.T) {
	for n := 1; n <= 7; n++ {
		q, blocking := n/2+1, n-(n/2+1)+1
		for granted := 0; granted <= n; granted++ {
			for refused := 0; granted+refused <= n; refused++ {
				for unknown := 0; granted+refused+unknown <= n; unknown++ {
					for acted := min(granted, 1); acted <= granted; acted++ {
						for declined := min(refused, 1); declined <= refused; declined++ {
							pending := n - granted - refused - unknown
							tl := Tally{masters: n, Granted: granted, Refused: refused, unknown: unknown, pending: pending}
							got := tl.script(acted, declined)
							switch {
							case acted >= q:
								if got != quorum.Won {
									t.Fatalf("%+v acted %d: %v", tl, acted, got)
								}
							case declined >= blocking:
								if got != quorum.Contended {
									t.Fatalf("%+v declined %d: %v", tl, declined, got)
								}
							case pending == 0:
								want := quorum.Unavailable
								if granted+refused >= q {
									want = quorum.Split
								}
								if got != want {
									t.Fatalf("%+v acted %d declined %d: %v, want %v", tl, acted, declined, got, want)
								}
							case got == quorum.Won || got == quorum.Contended:
								t.Fatalf("%+v acted %d declined %d: %v", tl, acted, declined, got)
							case acted+pending >= q || declined+pending >= blocking:
								if got != quorum.Undecided {
									t.Fatalf("%+v acted %d declined %d: %v too early", tl, acted, declined, got)
								}
							}
						}
					}
				}
			}
		}
	}
}

// A script whose command was refused for the state that the master is in has not said
// anything: another master may be in a better one. What it wrote before is put back.
func TestScriptOnAMasterInTroubleIsNoVote(t *testing.T) {
	r := quorum.Request{Kind: quorum.Run}
	answered := func(flags int64, text string) Answer {
		return Answer{Kind: quorum.ArrayReply, Elems: []Answer{
			{Kind: quorum.IntegerReply, Int: flags}, {Kind: quorum.IntegerReply, Int: 1}, {Kind: quorum.BulkReply, Str: "-"}, {Kind: quorum.IntegerReply}, {Kind: quorum.BulkReply, Str: text},
		}}
	}
	for flags, want := range map[int64]quorum.Vote{flagTrouble: quorum.Unknown, 0: quorum.Refused} { // else it is the script's own error
		const text = "READONLY You can't write against a read only replica."
		if v, did, s := Judge(&r, answered(flags, text)); v != want || did || (s.Refusal() == text) != (want == quorum.Unknown) {
			t.Errorf("flags %d: %v, carried out: %v, %q", flags, v, did, s.Refusal())
		}
		wrote := want
		if wrote == quorum.Refused {
			wrote = quorum.Granted
		}
		if v, did, s := Judge(&r, answered(flags+FlagWrote, text)); v != wrote || !did || s.Journal == nil {
			t.Errorf("flags %d, and it has written: %v, carried out: %v", flags, v, did)
		}
	}
}

// A split of which a "no" would be a guess.
func TestSplitScriptSaysNoOnlyWhereNoQuorumCanHoldTheLock(t *testing.T) {
	one, zero := ofKind(quorum.IntegerReply, ""), ofKind(quorum.IntegerReply, "")
	one.Int = 1
	extended := &Journal{Reply: one, Acted: true, Undo: []UndoRecord{{Key: "k", Before: "dump", After: "dump"}}}
	acquired := &Journal{Reply: one, Acted: true, Undo: []UndoRecord{{Key: "k", After: "dump"}}}
	declined := &Journal{Reply: zero}
	other := &Journal{Reply: ofKind(quorum.NilReply, "")}
	own := &Journal{Reply: one} // it is its client's already
	for name, test := range map[string]struct {
		acted, declined, third *Journal
		vote                   quorum.Vote // of the third
		want                   quorum.Decision
	}{
		"extended, and one is not known":   {extended, declined, nil, quorum.Unknown, quorum.Split},
		"extended, and one is withheld":    {extended, declined, declined, quorum.Withheld, quorum.Split},
		"extended, and two say otherwise":  {extended, declined, other, quorum.Refused, quorum.Contended},
		"acquired, which is undone":        {acquired, declined, nil, quorum.Unknown, quorum.Contended},
		"acquired, and one has it already": {acquired, own, nil, quorum.Unknown, quorum.Split},
	} {
		o := Question{
			Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewScript("")},
			Said:    []Said{{Journal: test.acted}, {Journal: test.declined}, {Journal: test.third}},
		}
		c := Votes(0).Voted(0, quorum.Granted, true).Voted(1, quorum.Refused, false).Voted(2, test.vote, false).With(quorum.Split)
		if r := o.Result(c); r.Decision != test.want || (r.Script != nil) != (test.want == quorum.Contended) {
			t.Errorf("%s: %v, %+v; want %v", name, r.Decision, r.Script, test.want)
		}
		if o.Script = quorum.NewStep(""); o.Result(c).Decision != quorum.Split {
			t.Errorf("%s, by a step: %v", name, o.Result(c).Decision)
		}
	}
}

func TestScriptThatReleasesIsAReleaseWithAMasterAway(t *testing.T) {
	one, zero := ofKind(quorum.IntegerReply, ""), ofKind(quorum.IntegerReply, "")
	one.Int = 1
	removed := &Journal{Reply: one, Acted: true}
	wrote := &Journal{Reply: one, Acted: true, Undo: []UndoRecord{{Key: "k", Before: "dump", After: "other"}}}
	declined := &Journal{Reply: zero}
	for name, test := range map[string]struct {
		acted, second, third *Journal
		votes                [2]quorum.Vote // of the second and third
		want                 quorum.Decision
	}{
		"one has missed the lock, and one is away": {removed, declined, nil, [2]quorum.Vote{quorum.Refused, quorum.Unknown}, quorum.Won},
		"one has missed it, and one does not vote": {removed, declined, declined, [2]quorum.Vote{quorum.Refused, quorum.Withheld}, quorum.Won},
		"two have missed it":                       {removed, declined, declined, [2]quorum.Vote{quorum.Refused, quorum.Refused}, quorum.Contended},
		"it wrote":                                 {wrote, declined, nil, [2]quorum.Vote{quorum.Refused, quorum.Unknown}, quorum.Split},
		"two are away":                             {removed, nil, nil, [2]quorum.Vote{quorum.Unknown, quorum.Unknown}, quorum.Unavailable},
	} {
		o := Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewScript("")}, Said: []Said{{Journal: test.acted}, {Journal: test.second}, {Journal: test.third}}}
		c := Votes(0).Voted(0, quorum.Granted, true).Voted(1, test.votes[0], false).Voted(2, test.votes[1], false)
		if d := o.Decide(c); d != test.want {
			t.Errorf("%s: %v, want %v", name, d, test.want)
		}
	}
}

func TestMembersAndFieldsArePutIntoOneOrder(t *testing.T) {
	for _, x := range []struct {
		shape  string
		values []string
		want   []string
	}{
		{"~3;$$$", []string{"b", "c", "a"}, []string{"a", "b", "c"}},
		{"%4;$$$$", []string{"b", "1", "a", "2"}, []string{"a", "2", "b", "1"}},
		{"*3;$$$", []string{"b", "c", "a"}, []string{"b", "c", "a"}},
		{"~0;", nil, nil},
	} {
		values := make([]Answer, len(x.values))
		for i, v := range x.values {
			values[i] = Answer{Kind: quorum.BulkReply, Str: v}
		}
		r, rest, ok := readShape(x.shape, values)
		var got []string
		for _, e := range r.Elems {
			got = append(got, e.Str)
		}
		if !ok || len(rest) > 0 || r.Kind != quorum.ArrayReply || !slices.Equal(got, x.want) {
			t.Errorf("%s of %q is %q", x.shape, x.values, got)
		}
	}
}

// A master that is busy has voted, and for nothing: every way in which up to seven
// masters can have voted on a step, put to the op itself.
func TestBusyMastersAreNeitherForNorAgainst(t *testing.T) {
	votes := []struct {
		vote quorum.Vote
		j    *Journal
	}{
		{quorum.Granted, &Journal{Acted: true, Reply: ofKind(quorum.StatusReply, "OK")}},
		{quorum.Refused, &Journal{Reply: ofKind(quorum.NilReply, "")}},
		{quorum.Refused, &Journal{Busy: true, Reply: ofKind(quorum.NilReply, "")}},
		{quorum.Unknown, nil},
		{0, nil},
	}
	for n := 1; n <= 7; n++ {
		q, blocking := n/2+1, n-(n/2+1)+1
		for code := range pow(len(votes), n) {
			o := &Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewCountUp("return redis.call('INCR', KEYS[1])")}, Said: make([]Said, n)}
			var c Votes
			var count [5]int
			for i, rest := 0, code; i < n; i, rest = i+1, rest/len(votes) {
				v := rest % len(votes)
				count[v]++
				if votes[v].vote != 0 {
					c = c.Voted(i, votes[v].vote, v == 0)
					o.Said[i].Journal = votes[v].j
				}
			}
			acted, declined, busy, pending := count[0], count[1], count[2], count[4]
			want := quorum.Unavailable
			switch {
			case acted >= q:
				want = quorum.Won
			case declined >= blocking:
				want = quorum.Contended
			case pending > 0 && (acted+pending >= q || declined+pending >= blocking):
				want = quorum.Undecided
			case acted+declined+busy >= q:
				want = quorum.Split
			case acted+declined+busy+pending >= q:
				want = quorum.Undecided
			}
			if got := o.Decide(c); got != want {
				t.Fatalf("of %d masters %v: %v, want %v", n, count, got, want)
			}
		}
	}
}
