package catchup

import (
	"math"
	"slices"
	"testing"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

func TestSourcesThatHoldOneValueAgreeOnItsLongestLife(t *testing.T) {
	none := reading{left: -2}
	a := func(left int64) reading { return reading{digest: "string=a", left: left} }
	b := func(left int64) reading { return reading{digest: "string=b", left: left} }
	for name, c := range map[string]struct {
		readings []reading
		want     agreement
		copied   reading
	}{
		"no source":                   {nil, nowhere, reading{}},
		"nowhere":                     {[]reading{none, none}, nowhere, reading{}},
		"one alone":                   {[]reading{none, a(10)}, agreed, a(10)},
		"the same":                    {[]reading{a(10), a(10)}, agreed, a(10)},
		"extended on one":             {[]reading{a(10), a(70), a(20)}, agreed, a(70)},
		"without a ttl on one":        {[]reading{a(10), a(decide.SaysNoTTL), a(20)}, agreed, a(decide.SaysNoTTL)},
		"about to end":                {[]reading{a(0), none}, agreed, a(0)},
		"two values":                  {[]reading{a(10), b(10)}, disputed, reading{}},
		"two values, one without ttl": {[]reading{a(decide.SaysNoTTL), b(10)}, disputed, reading{}},
		"two values beside none":      {[]reading{none, a(10), none, b(10)}, disputed, reading{}},
		"most against one":            {[]reading{a(10), a(10), a(10), b(10)}, disputed, reading{}},
	} {
		for range c.readings {
			if got, what := agree(c.readings); what != c.want || got != c.copied {
				t.Errorf("%s: %v, %+v", name, what, got)
			}
			c.readings = append(c.readings[1:], c.readings[0]) // whichever is asked first
		}
		if got, what := agree(c.readings); what != c.want || got != c.copied {
			t.Errorf("%s: %v, %+v", name, what, got)
		}
	}
}

func TestCopyIsHeldAsLongAsASourceHoldsIt(t *testing.T) {
	for _, c := range []struct {
		said []agreement
		want agreement
	}{
		{[]agreement{nowhere, nowhere}, nowhere},
		{[]agreement{nowhere, agreed}, agreed},
		{[]agreement{agreed, disputed}, agreed},
		{[]agreement{disputed, agreed}, agreed},
		{[]agreement{nowhere, disputed}, disputed},
		{[]agreement{disputed, nowhere}, disputed},
		{[]agreement{nowhere, unread}, disputed}, // it may be there
		{[]agreement{unread, agreed}, agreed},
	} {
		if got := still(c.said); got != c.want {
			t.Errorf("%v: %v", c.said, got)
		}
	}
}

// Of any quorum that a master was in, one that was needed as a source is another
// member, and no fewer sources would do.
func TestNeededSourcesMeetEveryQuorumOfTheMaster(t *testing.T) {
	for n := 2; n <= quorum.MaxMasters; n++ {
		others, needed := n-1, Needed(n)
		if fellows := quorum.QuorumOf(n) - 1; needed+fellows != others+1 {
			t.Errorf("of %d masters %d are needed", n, needed)
		}
	}
}

func TestReadingsAreReadWholeOrNotAtAll(t *testing.T) {
	text := func(s string) decide.Answer { return decide.Answer{Kind: quorum.BulkReply, Str: s} }
	left := func(n int64) decide.Answer { return decide.Answer{Kind: quorum.IntegerReply, Int: n} }
	list := func(elems ...decide.Answer) decide.Answer {
		return decide.Answer{Kind: quorum.ArrayReply, Elems: elems}
	}
	long := "string#0123"
	for name, c := range map[string]struct {
		a    decide.Answer
		want []reading // nil: it is garbage
	}{
		"short strings": {list(left(10), text("a"), left(-1), text("")),
			[]reading{{digest: "string=a", left: 10}, {digest: "string=", left: -1}}},
		"nothing": {list(left(-2), text("")), []reading{{left: -2}}},
		"what is not told whole": {list(left(1), list(text(long), text("v")), left(-2), text(""), left(3), list(text("hash#45"), text("dump"))),
			[]reading{{digest: long, payload: "v", left: 1}, {left: -2}, {digest: "hash#45", payload: "dump", left: 3}}},
		"what cannot be dumped":    {list(left(1), list(text("hash#45"), text(""))), []reading{{digest: "hash#45", left: 1}}},
		"a ttl of many figures":    {list(left(math.MaxInt64), text("a")), []reading{{digest: "string=a", left: maxLeft}}},
		"no keys":                  {list(), nil},
		"no array":                 {text("1"), nil},
		"fewer values":             {list(left(1), text("a"), left(2)), nil},
		"no payload":               {list(left(1), list(text(long))), nil},
		"a payload too many":       {list(left(1), list(text(long), text("v"), text("v"))), nil},
		"no digest":                {list(left(1), list(text(""), text("v"))), nil},
		"a value that is a number": {list(left(1), left(2)), nil},
		"a ttl that is no number":  {list(text("x"), text("a")), nil},
	} {
		got, ok := readReadings(c.a)
		if ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %+v", name, ok, got)
		}
	}
}

func TestNotedKeysAreNotGivenTwice(t *testing.T) {
	n := newKeySet()
	n.add("a")
	n.add("c")
	if rest := n.without([]string{"a", "b", "c", "d"}); !slices.Equal(rest, []string{"b", "d"}) {
		t.Errorf("%q", rest)
	}
}

func TestWhatIsForbiddenIsNotLeftByALock(t *testing.T) {
	eternal, none, forbidden := reading{digest: "string=a", left: -1}, reading{left: -2}, reading{forbidden: true}
	if !leftover(eternal, []reading{eternal, none, none}, 2) {
		t.Error("two hold nothing, and it may be on a quorum")
	}
	if leftover(eternal, []reading{eternal, none, forbidden}, 2) {
		t.Error("one does not tell, and it is on no quorum")
	}
	if best, a := agree([]reading{forbidden, eternal}); a != agreed || best != eternal {
		t.Errorf("%v, %v", best, a)
	}
}

// What is remembered of forbidden keys is bounded, and may be forgotten in the middle of a question.
func TestWhatIsSaidOfKeysIsThatOfTheirs(t *testing.T) {
	p := &peer{forbidden: forbidden{keys: newKeySet(), count: 1}}
	p.forbidden.keys.add("theirs")
	said, err := each(p, []string{"theirs", "a", "b"}, itself, "not told", func(keys []string) ([]string, error) {
		p.forbidden.keys = newKeySet()
		return keys, nil
	})
	if err != nil || !slices.Equal(said, []string{"not told", "a", "b"}) {
		t.Errorf("%q, %v", said, err)
	}
}
