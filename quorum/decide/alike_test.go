package decide

import (
	"math/bits"
	"testing"

	"redlock-proxy/quorum"
)

// What a read has told every later one tells for as long as a quorum of those that have said so hold what they held,
// whatever becomes of the others: tried with every answer and every change that there can be.
func TestNothingElseIsReadWhileAQuorumOfThoseAlikeDoesNotChange(t *testing.T) {
	held := []Said{{Absent: true}, {Value: "a", typ: "string"}, {Value: "b", typ: "string"}}
	for masters := 1; masters <= 6; masters++ {
		needed := quorum.QuorumOf(masters)
		told := 0
		each(masters, len(held)+1, func(said []int) {
			o := &Question{Request: quorum.Request{Kind: quorum.Read, Key: "k", Tracked: true, ValueOnly: true}, Said: make([]Said, masters)}
			var c Votes
			for i, n := range said {
				if n < len(held) { // else it has not answered
					c, o.Said[i] = c.Voted(i, quorum.Granted, true), held[n]
				}
			}
			d := o.Decide(c)
			if d != quorum.Won {
				return
			}
			r := o.Result(c.With(d))
			if bits.OnesCount16(r.Alike) < needed {
				return
			}
			told++
			each(masters, len(held), func(now []int) {
				same := 0
				for i, n := range now {
					if r.Alike>>i&1 == 1 && n == said[i] {
						same++
					}
				}
				if same < needed {
					return
				}
				// Absent is told, too, where no value has a quorum.
				reads := 0
				for _, value := range []int{1, 2} {
					holders := 0
					for _, n := range now {
						if n == value {
							holders++
						}
					}
					if holders >= needed {
						reads = value
					}
				}
				if r.Exists != (reads != 0) || r.Exists && r.Value != held[reads].Value {
					t.Fatalf("%d masters said %v, which is %+v, and then hold what is not that: %v", masters, said, r, now)
				}
			})
		})
		if told < 3 {
			t.Errorf("of %d masters nothing was told", masters)
		}
	}
}

// each tries all ways to give each of n one of so many.
func each(n, many int, try func(given []int)) {
	given := make([]int, n)
	for {
		try(given)
		i := 0
		for ; i < n; i++ {
			if given[i]++; given[i] < many {
				break
			}
			given[i] = 0
		}
		if i == n {
			return
		}
	}
}

func TestScriptsThatSaidTheSameAreAlike(t *testing.T) {
	reply := func(n int64) *Journal {
		return &Journal{Reply: quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: n}}}
	}
	o := &Question{Request: quorum.Request{Kind: quorum.Run, Key: "k", Tracked: true, Script: quorum.NewScript("return 1")}, Said: []Said{{Journal: reply(1)}, {Journal: reply(2)}, {Journal: reply(1)}}}
	c := Votes(0).Voted(0, quorum.Refused, false).Voted(1, quorum.Refused, false).Voted(2, quorum.Refused, false)
	if r := o.Result(c.With(o.Decide(c))); r.Decision != quorum.Contended || r.Alike != 0b101 {
		t.Errorf("%+v", r)
	}
	o.Said[2].Journal.reached = true
	if r := o.Result(c.With(o.Decide(c))); r.Alike != 0b001 {
		t.Errorf("one has used another key: %+v", r)
	}
	o.Tracked = false
	if r := o.Result(c.With(o.Decide(c))); r.Alike != 0 {
		t.Errorf("nobody asked: %+v", r)
	}
}
