package decide

import (
	"slices"
	"testing"

	"redlock-proxy/quorum"
)

// What masters said to a read, a write or a lost acquire, counted, compared
// with the dumbest way of counting it.

// heard is one master's part in a random vote.
type heard struct {
	vote quorum.Vote
	Said
}

func opOf(r quorum.Request, votes []heard) (*Question, Votes) {
	o := &Question{Request: r, Said: make([]Said, len(votes))}
	var c Votes
	for i, h := range votes {
		c = c.Voted(i, h.vote, false)
		o.Said[i] = h.Said
	}
	return o, c
}

// possible are the reads that a master can have answered.
var possible = []heard{
	{}, {vote: quorum.Unknown}, {vote: quorum.Withheld, Said: Said{Value: "a", typ: "string", Left: 90}},
	{vote: quorum.Granted, Said: Said{Absent: true}},
	{vote: quorum.Granted, Said: Said{Value: "a", typ: "string"}},
	{vote: quorum.Granted, Said: Said{Value: "b", typ: "string"}},
	{vote: quorum.Granted, Said: Said{typ: "hash"}},
	{vote: quorum.Granted, Said: Said{Value: "", typ: "string"}},
}

// dumbRead: the value that a quorum holds; nothing when no value can have a
// quorum; split if that is because a quorum holds several, or where a quorum answered and
// yet it cannot be known; unavailable where none did. A value is told by type and value together; what an unknown or
// withheld master holds may be any.
func dumbRead(votes []heard) (quorum.Decision, Said) {
	count := make(map[[2]string]int)
	most, silent, lack := 0, 0, 0
	for _, h := range votes {
		switch {
		case h.vote != quorum.Granted:
			silent++
		case h.Absent:
			lack++
		default:
			count[[2]string{h.typ, h.Value}]++
		}
	}
	for v, n := range count {
		if n >= needed(len(votes)) {
			return quorum.Won, Said{typ: v[0], Value: v[1]}
		}
		most = max(most, n)
	}
	switch {
	case most+silent >= needed(len(votes)) && len(votes)-silent >= needed(len(votes)):
		return quorum.Split, Said{} // a quorum may hold it
	case most+silent >= needed(len(votes)):
		return quorum.Unavailable, Said{}
	case len(votes)-lack < needed(len(votes)):
		return quorum.Won, Said{Absent: true}
	}
	return quorum.Split, Said{Absent: true}
}

// votesOf reads a code of n votes, a digit to the base of six each; 0 is pending. It tells the
// last that is, or -1.
func votesOf(code, n int) (votes []heard, pending int) {
	votes, pending = make([]heard, n), -1
	for i := range votes {
		votes[i] = possible[code%6]
		if code%6 == 0 {
			pending = i
		}
		code /= 6
	}
	return votes, pending
}

// Every combination of answers of up to five masters, with the pending ones
// completed in every way.
func TestReadIsDecidedWhenNoAnswerCanChangeIt(t *testing.T) {
	answers := possible[1:6] // pending ones are completed by these
	for n := 1; n <= 5; n++ {
		memo := make(map[int]struct {
			d quorum.Decision
			s Said
		})
		var outcome func(code int) (quorum.Decision, Said)
		outcome = func(code int) (quorum.Decision, Said) {
			if m, ok := memo[code]; ok {
				return m.d, m.s
			}
			votes, pending := votesOf(code, n)
			d, s := quorum.Undecided, Said{}
			if pending < 0 {
				d, s = dumbRead(votes)
			} else {
				d, s = outcome(code + pow(6, pending))
				for a := 2; a <= len(answers); a++ {
					if d2, s2 := outcome(code + a*pow(6, pending)); d2 != d || !sameSaid(s2, s) {
						d, s = quorum.Undecided, Said{}
					}
				}
			}
			memo[code] = struct {
				d quorum.Decision
				s Said
			}{d, s}
			return d, s
		}
		for code := range pow(6, n) {
			votes, _ := votesOf(code, n)
			want, value := outcome(code)
			o, c := opOf(quorum.Request{Kind: quorum.Read}, votes)
			got := o.Decide(c)
			if got != want {
				t.Fatalf("%+v: %v, want %v", votes, got, want)
			}
			r := o.Result(c.With(got))
			if got == quorum.Split && !value.Absent {
				if r.Decision != quorum.Split || r.Exists || r.Type == "" {
					t.Fatalf("%+v: %+v, want a split", votes, r)
				}
				continue
			}
			if (got == quorum.Won || got == quorum.Split) && (r.Decision != quorum.Won || r.Exists == value.Absent || r.Value != value.Value || r.Type != value.typ) {
				t.Fatalf("%+v: %+v, want %+v", votes, r, value)
			}
		}
	}
}

func TestMostFrequentValueIsHeld(t *testing.T) {
	r := seeded(t)
	for range 20_000 {
		votes := make([]heard, 1+r.IntN(quorum.MaxMasters))
		for i := range votes {
			votes[i] = possible[r.IntN(len(possible))]
		}
		want := 0
		for _, h := range possible[4:] {
			n := 0
			for _, v := range votes {
				if v == h {
					n++
				}
			}
			want = max(want, n)
		}
		o, c := opOf(quorum.Request{Kind: quorum.Read}, votes)
		s, most := o.Held(c)
		if most != want {
			t.Fatalf("%+v: %d hold one value, want %d", votes, most, want)
		}
		n := 0
		for _, v := range votes {
			if v.vote == quorum.Granted && v.Said == s {
				n++
			}
		}
		if most > 0 && n != most {
			t.Fatalf("%+v: %+v is held by %d, not by %d", votes, s, n, most)
		}
	}
}

// dumbWrite: a quorum of equal replies; else a split if a quorum replied at
// all; else unavailable.
func dumbWrite(votes []heard) (quorum.Decision, quorum.Reply) {
	replied := 0
	for _, v := range votes {
		if v.vote != quorum.Granted {
			continue
		}
		replied++
		n := 0
		for _, w := range votes {
			if w.vote == quorum.Granted && w.Reply == v.Reply {
				n++
			}
		}
		if n >= needed(len(votes)) {
			return quorum.Won, v.Reply
		}
	}
	if replied >= needed(len(votes)) {
		return quorum.Split, quorum.Reply{}
	}
	return quorum.Unavailable, quorum.Reply{}
}

func TestWriteIsDecidedByEqualReplies(t *testing.T) {
	replies := []heard{
		{vote: quorum.Unknown}, {vote: quorum.Withheld},
		{vote: quorum.Granted, Said: Said{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: 1}}},
		{vote: quorum.Granted, Said: Said{Reply: quorum.Reply{Kind: quorum.IntegerReply}}},
		{vote: quorum.Granted, Said: Said{Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "ERR"}}},
		{vote: quorum.Granted, Said: Said{Reply: quorum.Reply{Kind: quorum.BulkReply, Str: "1"}}},
	}
	var complete func(votes []heard, f func([]heard))
	complete = func(votes []heard, f func([]heard)) {
		i := slices.IndexFunc(votes, func(h heard) bool { return h.vote == 0 })
		if i < 0 {
			f(votes)
			return
		}
		for _, h := range replies {
			votes[i] = h
			complete(votes, f)
		}
		votes[i] = heard{}
	}
	r := seeded(t)
	for range 3000 {
		votes := make([]heard, 1+r.IntN(7))
		pending := 0
		for i := range votes {
			if k := r.IntN(len(replies) + 2); k < len(replies) || pending == 3 {
				votes[i] = replies[k%len(replies)]
			} else {
				pending++
			}
		}
		o, c := opOf(quorum.Request{Kind: quorum.Write}, slices.Clone(votes))
		type outcome struct {
			quorum.Decision
			quorum.Reply
		}
		outcomes := make(map[outcome]bool)
		complete(votes, func(v []heard) {
			d, reply := dumbWrite(v)
			outcomes[outcome{d, reply}] = true
		})
		got := o.Decide(c)
		if got == quorum.Undecided != (len(outcomes) > 1) {
			t.Fatalf("%+v: %v, while it can still become %v", votes, got, outcomes)
		}
		if got != quorum.Undecided && !outcomes[outcome{got, o.Result(c.With(got)).Reply}] {
			t.Fatalf("%+v: %v with %+v, want %v", votes, got, o.Result(c.With(got)).Reply, outcomes)
		}
	}
}

func TestRefusalsNameTheValueOfAQuorum(t *testing.T) {
	r := seeded(t)
	for range 20_000 {
		votes := make([]heard, 1+r.IntN(quorum.MaxMasters))
		count := make(map[string]int)
		for i := range votes {
			h := heard{vote: allVotes[r.IntN(len(allVotes))]}
			if r.IntN(4) > 0 {
				h.vote = quorum.Refused
			}
			h.Value, h.Named = string("ab"[r.IntN(5)/4]), r.IntN(8) > 0
			votes[i] = h
			if h.vote == quorum.Refused && h.Named {
				count[h.Value]++
			}
		}
		want := ""
		for v, n := range count {
			if n >= needed(len(votes)) {
				want = v
			}
		}
		o, c := opOf(quorum.Request{Kind: quorum.Acquire}, votes)
		counted := o.counted(c)
		if got, most := counted.inTheWay(); (most >= needed(len(votes))) != (want != "") || want != "" && got.Value != want {
			t.Fatalf("%+v: %q by %d, want %q", votes, got.Value, most, want)
		}
	}
}
