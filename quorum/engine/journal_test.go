package engine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

func bulks(values ...string) (a []master.Answer) {
	for _, v := range values {
		a = append(a, master.Answer{Kind: quorum.BulkReply, Str: v})
	}
	return a
}

func TestShapeTellsWhatAReplyIs(t *testing.T) {
	number := func(n int64) quorum.ScriptReply {
		return quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}}
	}
	for _, c := range []struct {
		shape  string
		values []master.Answer
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
							tl := tally{masters: n, granted: granted, refused: refused, unknown: unknown, pending: pending}
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

// A master that is busy has voted, and for nothing: every way in which up to seven
// masters can have voted on a step, put to the op itself.
func TestBusyMastersAreNeitherForNorAgainst(t *testing.T) {
	votes := []struct {
		vote quorum.Vote
		j    *journaled
	}{
		{quorum.Granted, &journaled{acted: true, reply: ofKind(quorum.StatusReply, "OK")}},
		{quorum.Refused, &journaled{reply: ofKind(quorum.NilReply, "")}},
		{quorum.Refused, &journaled{busy: true, reply: ofKind(quorum.NilReply, "")}},
		{quorum.Unknown, nil},
		{0, nil},
	}
	for n := 1; n <= 7; n++ {
		q, blocking := n/2+1, n-(n/2+1)+1
		for code := range pow(len(votes), n) {
			o := &op{Request: quorum.Request{Kind: quorum.Run, Script: countStep}, said: make([]said, n)}
			var c counted
			var count [5]int
			for i, rest := 0, code; i < n; i, rest = i+1, rest/len(votes) {
				v := rest % len(votes)
				count[v]++
				if votes[v].vote != 0 {
					c = c.voted(i, votes[v].vote, v == 0)
					o.said[i].journal = votes[v].j
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
			if got := o.decide(c); got != want {
				t.Fatalf("of %d masters %v: %v, want %v", n, count, got, want)
			}
		}
	}
}

func TestPreludeIsOneLineOfLua(t *testing.T) {
	lua := prelude.before + oursKnow + helpers.of(helpers.names) + helpers.all() + prelude.after + latchText
	if strings.ContainsAny(lua, "\n\r\t") || strings.Contains(lua, "--") {
		t.Error("the prelude has line ends or comments left in it")
	}
	if !strings.Contains(formOf(countStep).wrapped.Text, "(redis,KEYS,ARGV,__latch,") {
		t.Error("a step does not tell the prelude of its latch")
	}
	for _, text := range []string{preludeText, helpersText} {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "(") {
				t.Error("a statement begins with a parenthesis")
			}
		}
	}
}

// A script whose command was refused for the state that the master is in has not said
// anything: another master may be in a better one. What it wrote before is put back.
func TestScriptOnAMasterInTroubleIsNoVote(t *testing.T) {
	r := quorum.Request{Kind: quorum.Run}
	answered := func(flags int64, text string) master.Answer {
		return master.Answer{Elems: []master.Answer{
			{Kind: quorum.IntegerReply, Int: flags}, {Kind: quorum.IntegerReply, Int: 1}, {Kind: quorum.BulkReply, Str: "-"}, {Kind: quorum.IntegerReply}, {Kind: quorum.BulkReply, Str: text},
		}}
	}
	for flags, want := range map[int64]quorum.Vote{scriptTrouble: quorum.Unknown, 0: quorum.Refused} { // else it is the script's own error
		const text = "READONLY You can't write against a read only replica."
		if v, did, s := judge(&r, answered(flags, text)); v != want || did || (s.refusal() == text) != (want == quorum.Unknown) {
			t.Errorf("flags %d: %v, carried out: %v, %q", flags, v, did, s.refusal())
		}
		wrote := want
		if wrote == quorum.Refused {
			wrote = quorum.Granted
		}
		if v, did, s := judge(&r, answered(flags+scriptWrote, text)); v != wrote || !did || s.journal == nil {
			t.Errorf("flags %d, and it has written: %v, carried out: %v", flags, v, did)
		}
	}
}

// A split of which a "no" would be a guess.
func TestSplitScriptSaysNoOnlyWhereNoQuorumCanHoldTheLock(t *testing.T) {
	one, zero := ofKind(quorum.IntegerReply, ""), ofKind(quorum.IntegerReply, "")
	one.Int = 1
	extended := &journaled{reply: one, acted: true, undo: []undoRecord{{key: "k", before: "dump", after: "dump"}}}
	acquired := &journaled{reply: one, acted: true, undo: []undoRecord{{key: "k", after: "dump"}}}
	declined := &journaled{reply: zero}
	other := &journaled{reply: ofKind(quorum.NilReply, "")}
	for name, test := range map[string]struct {
		acted, declined, third *journaled
		vote                   quorum.Vote // of the third
		want                   quorum.Decision
	}{
		"extended, and one is not known":  {extended, declined, nil, quorum.Unknown, quorum.Split},
		"extended, and one is withheld":   {extended, declined, declined, quorum.Withheld, quorum.Split},
		"extended, and two say otherwise": {extended, declined, other, quorum.Refused, quorum.Contended},
		"acquired, which is undone":       {acquired, declined, nil, quorum.Unknown, quorum.Contended},
	} {
		o := op{Request: quorum.Request{Kind: quorum.Run}, said: []said{{journal: test.acted}, {journal: test.declined}, {journal: test.third}}}
		c := counted(0).voted(0, quorum.Granted, true).voted(1, quorum.Refused, false).voted(2, test.vote, false).with(quorum.Split)
		if r := o.result(c); r.Decision != test.want || (r.Script != nil) != (test.want == quorum.Contended) {
			t.Errorf("%s: %v, %+v; want %v", name, r.Decision, r.Script, test.want)
		}
	}
}

func TestScriptThatReleasesIsAReleaseWithAMasterAway(t *testing.T) {
	one, zero := ofKind(quorum.IntegerReply, ""), ofKind(quorum.IntegerReply, "")
	one.Int = 1
	removed := &journaled{reply: one, acted: true}
	wrote := &journaled{reply: one, acted: true, undo: []undoRecord{{key: "k", before: "dump", after: "other"}}}
	declined := &journaled{reply: zero}
	for name, test := range map[string]struct {
		acted, second, third *journaled
		votes                [2]quorum.Vote // of the second and third
		want                 quorum.Decision
	}{
		"one has missed the lock, and one is away": {removed, declined, nil, [2]quorum.Vote{quorum.Refused, quorum.Unknown}, quorum.Won},
		"one has missed it, and one does not vote": {removed, declined, declined, [2]quorum.Vote{quorum.Refused, quorum.Withheld}, quorum.Won},
		"two have missed it":                       {removed, declined, declined, [2]quorum.Vote{quorum.Refused, quorum.Refused}, quorum.Contended},
		"it wrote":                                 {wrote, declined, nil, [2]quorum.Vote{quorum.Refused, quorum.Unknown}, quorum.Split},
		"two are away":                             {removed, nil, nil, [2]quorum.Vote{quorum.Unknown, quorum.Unknown}, quorum.Unavailable},
	} {
		o := op{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewScript("")}, said: []said{{journal: test.acted}, {journal: test.second}, {journal: test.third}}}
		c := counted(0).voted(0, quorum.Granted, true).voted(1, test.votes[0], false).voted(2, test.votes[1], false)
		if d := o.decide(c); d != test.want {
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
		values := make([]master.Answer, len(x.values))
		for i, v := range x.values {
			values[i] = master.Answer{Kind: quorum.BulkReply, Str: v}
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

// Nothing has a script's replies be RESP3's. Were there a way, what is in them would go uncounted.
func TestScriptIsGivenNoReplyThatIsNotCounted(t *testing.T) {
	real := bothSides(t)[0].(realSide)
	real.do("HSET", "h", "f", "v")
	real.do("SADD", "s", "m")
	real.do("ZADD", "z", "1", "m")
	for _, read := range []string{"'HGETALL','h'", "'SMEMBERS','s'", "'ZSCORE','z','m'", "'ZRANGE','z',0,-1,'WITHSCORES'", "'HGETALL','none'", "'TYPE','h'", "'HGET','h','f'"} {
		for _, version := range []string{"2", "3"} {
			p := quorum.NewPrinted(quorum.Printed{Body: "redis.setresp(" + version + ") local r=__h.redis_call(" + read + ") return 'given'", Helpers: []string{"redis_call"}, Bounds: quorum.DefaultBounds})
			want := "given"
			if version == "3" && !strings.Contains(read, "TYPE") && !strings.Contains(read, "HGET'") {
				want = "ERR the script is given a reply of a type that this proxy does not know"
			}
			if got := fmt.Sprint(real.run(formOf(p).itself(), []string{"h", "s", "z", "none"}, []string{"1", "0", noDate})); !strings.Contains(got, want) {
				t.Errorf("%s by RESP%s: %s, want %s", read, version, got, want)
			}
		}
	}
}
