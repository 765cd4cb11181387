package decide

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// Whatever ttls a quorum or more of the masters name: at least a quorum hold
// the key for as long as the reader is told, and fewer for any longer.
func TestRemainingTTLIsThatOfAQuorum(t *testing.T) {
	r := seeded(t)
	for range 20_000 {
		n := 1 + r.IntN(quorum.MaxMasters)
		votes := make([]heard, n)
		for i := range votes {
			left := int64(1000 * (1 + r.IntN(n+1)))
			if r.IntN(4) == 0 {
				left = SaysNoTTL
			}
			votes[i] = heard{vote: quorum.Granted, Said: Said{Value: "a", typ: "string", Left: left}}
		}
		for range r.IntN(n - needed(n) + 1) {
			votes[r.IntN(n)] = possible[r.IntN(4)]
		}
		o, c := opOf(quorum.Request{Kind: quorum.Read}, votes)
		s, _ := o.Held(c)
		counted := o.counted(c)
		got, _, _ := counted.remaining(&s)
		holding := func(at time.Duration) (k int) { // how many still hold it then
			for _, v := range votes {
				if v.vote == quorum.Granted && !v.Absent && (v.Left == SaysNoTTL || time.Duration(v.Left)*time.Millisecond >= at) {
					k++
				}
			}
			return k
		}
		switch {
		case got == quorum.NoTTL:
			if holding(24*time.Hour) < needed(n) {
				t.Fatalf("%+v: no ttl", votes)
			}
		case holding(got) < needed(n):
			t.Fatalf("%+v: %v, and %d hold it that long", votes, got, holding(got))
		case holding(got+clock.Drift(got)+100*time.Millisecond) >= needed(n):
			t.Fatalf("%+v: %v is less than what a quorum holds", votes, got)
		}
	}
}

func sameSaid(s, t Said) bool {
	return s.Value == t.Value && s.typ == t.typ && s.Left == t.Left && s.Named == t.Named &&
		s.Absent == t.Absent && s.Reply == t.Reply
}

// A script that says no with what is left of a ttl tells it as a read does.
func TestScriptThatTellsATTLIsAsNewAsTheLastAnsweredWrite(t *testing.T) {
	ttl := func(ms int64) *Journal {
		return &Journal{Reply: quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.ArrayReply}, Elems: []quorum.ScriptReply{
			ofKind(quorum.NilReply, ""), {Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: ms}, Left: true},
		}}}
	}
	o := &Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewScript("")}, Said: make([]Said, 5)}
	var c Votes
	for i, left := range []int64{10_000, 60_000, 10_010, 60_020, 60_030} {
		o.Said[i].Journal = ttl(left)
		c = c.Voted(i, quorum.Refused, false)
		want := quorum.Undecided
		if i == 4 {
			want = quorum.Contended
		}
		if d := o.Decide(c); d != want {
			t.Errorf("after %d masters: %v", i+1, d)
		}
	}
	if r := o.Result(c.With(quorum.Contended)); r.Script.Elems[1].Int != 60_000 {
		t.Errorf("%+v", r.Script)
	}
	o.Said[0].Journal = ttl(60_050)
	o.Said[2].Journal = ttl(60_060)
	c = 0
	for i := range 3 {
		c = c.Voted(i, quorum.Refused, false)
	}
	if d := o.Decide(c); d != quorum.Contended {
		t.Errorf("three that agree: %v", d)
	}
}

func TestTTLThatNoDurationHoldsIsToldAsALongOne(t *testing.T) {
	const years = int64(365 * 24 * time.Hour / time.Millisecond)
	now := time.Now()
	for _, n := range []int64{300 * years, 1e15, 9e18} {
		r := UndoRecord{Expires: n, Left: n}
		if lives := r.Lives(); lives != clock.LongestTTL || !now.Add(lives+clock.Drift(lives)).After(now) {
			t.Errorf("what lives for %d ms lives for %v", n, lives)
		}
		var l lefts
		for range 3 {
			l.add(n)
		}
		o := Question{Said: []Said{{typ: "string", Left: n}, {typ: "string", Left: n}}}
		c := Votes(0).Voted(0, quorum.Granted, false).Voted(1, quorum.Granted, false)
		counted := o.counted(c)
		if left, far, _ := counted.remaining(&o.Said[0]); left != quorum.NoTTL || far != n {
			t.Errorf("of %d ms, %v is told", n, left)
		}
		if l.open(2, 0) {
			t.Error("it is open how long they live")
		}
	}
}
