package members

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

func TestPartInAChangeOfTheSet(t *testing.T) {
	oldTerms := marker.Terms{Set: []string{"a", "b", "c"}, AcquireTimeout: 250, MaxTTL: 1000}
	newTerms := marker.Terms{Set: []string{"a", "b", "d"}, AcquireTimeout: 250, MaxTTL: 1000}
	here, other := marker.Identity{RunID: "here"}, marker.Identity{RunID: "other"}
	sure := marker.Identity{RunID: "other", Durable: true}
	text := func(terms marker.Terms, change func(*marker.Marker)) string {
		m := marker.Marker{Nonce: marker.NewNonce(false), Installation: "new", Member: "a", Terms: terms, RunID: "here", From: "old"}
		if terms.Equal(oldTerms) {
			m.Installation, m.From = "old", ""
		}
		change(&m)
		return m.String()
	}
	asIs := func(*marker.Marker) {}
	quarantined := func(m *marker.Marker) { m.Nonce = marker.NewNonce(true) }
	provisional := func(m *marker.Marker) { m.Nonce, m.Changing = marker.NewNonce(true), true }
	for name, c := range map[string]struct {
		text string
		who  marker.Identity
		old  bool
		is   part
		err  string
	}{
		"nothing, of the old set":               {"", here, true, lost, ""},
		"nothing, new":                          {"", here, false, blank, ""},
		"no marker":                             {"x", here, true, 0, "no marker"},
		"of the old set":                        {text(oldTerms, asIs), here, true, remembers, ""},
		"of the old set, started anew":          {text(oldTerms, asIs), other, true, lost, ""},
		"of the old set, started anew, durable": {text(oldTerms, func(m *marker.Marker) { m.Durable = true }), sure, true, remembers, ""},
		"of the old set, of another database":   {text(oldTerms, func(m *marker.Marker) { m.DB = 1 }), here, true, lost, ""},
		"of the old set, quarantined":           {text(oldTerms, quarantined), here, true, lost, ""},
		"of the old set, and not named":         {text(oldTerms, asIs), here, false, 0, "it has the marker of a of the old set, and is none of it"},
		"begun":                                 {text(newTerms, provisional), here, true, begun, ""},
		"begun, new":                            {text(newTerms, provisional), here, false, begun, ""},
		"begun, started anew":                   {text(newTerms, provisional), other, false, lost, ""},
		"kept":                                  {text(newTerms, func(m *marker.Marker) { provisional(m); m.Holds = true }), here, true, kept, ""},
		"kept, started anew":                    {text(newTerms, func(m *marker.Marker) { provisional(m); m.Holds = true }), other, true, lost, ""},
		"kept, started anew, durable":           {text(newTerms, func(m *marker.Marker) { provisional(m); m.Holds, m.Durable = true, true }), sure, true, kept, ""},
		"done":                                  {text(newTerms, asIs), here, true, done, ""},
		"done, started anew":                    {text(newTerms, asIs), other, true, left, ""},
		"done, quarantined by a proxy":          {text(newTerms, quarantined), here, true, left, ""},
		"done, told anew by a proxy":            {text(newTerms, func(m *marker.Marker) { m.From = "" }), here, true, done, ""},
		"of another installation":               {text(newTerms, func(m *marker.Marker) { m.Installation = "third" }), here, false, 0, "by installation third"},
	} {
		p := plan{old: oldTerms.Set, Terms: newTerms, from: "old", into: "new"}
		if _, is, err := p.judge(c.text, c.who, 0, c.old, true); is != c.is || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v; want %v, %s", name, is, err, c.is, c.err)
		}
	}
	p := plan{old: []string{"a"}, Terms: newTerms, from: aloneFrom, into: "new"}
	if _, is, err := p.judge("", here, 0, true, true); is != remembers || err != nil {
		t.Errorf("a master alone: %v, %v", is, err)
	}
}

func TestWhatMarkersTellOfTheTwoSets(t *testing.T) {
	set := func(names ...string) marker.Terms { return marker.Terms{Set: names, AcquireTimeout: 250, MaxTTL: 1000} }
	text := func(terms marker.Terms, installation, from string) string {
		return marker.Marker{Nonce: marker.NewNonce(false), Installation: installation, Member: "a", Terms: terms, From: from}.String()
	}
	old, changed := set("a", "b", "c"), set("a", "b", "d")
	long := old
	long.MaxTTL = 2000
	for name, c := range map[string]struct {
		texts      []string
		from, into string
		err        string
	}{
		"an old set":            {[]string{text(old, "o", ""), "", text(old, "o", "")}, "o", "", ""},
		"a change that began":   {[]string{text(changed, "n", "o"), text(old, "o", "")}, "o", "n", ""},
		"all is marked":         {[]string{text(changed, "n", "o"), text(changed, "n", ""), text(changed, "n", "o")}, "o", "n", ""},
		"two old ones":          {[]string{text(old, "o", ""), text(old, "p", "")}, "", "", "of installation p as the old one, another's of o"},
		"two old ones, changed": {[]string{text(changed, "n", "o"), text(old, "p", "")}, "", "", "of installation p as the old one"},
		"two new ones":          {[]string{text(changed, "n", "o"), text(changed, "m", "o")}, "", "", "of installation m as the new one, another's of n"},
		"a third":               {[]string{text(set("x", "y", "z"), "t", "")}, "", "", "neither the old set nor the new one"},
		"nothing":               {[]string{"", ""}, "", "", "no master of the old set has a marker"},
		"a new set by itself":   {[]string{text(changed, "n", "")}, "", "", "no master of the old set has a marker"},
		"a longer max-ttl":      {[]string{text(long, "o", "")}, "", "", "the old set's max-ttl is 2000 ms"},
	} {
		p := plan{old: old.Set, Terms: changed}
		var err error
		for _, text := range c.texts {
			if err == nil {
				err = p.learn(text)
			}
		}
		into := p.into
		if err == nil {
			err = p.check()
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %s", name, err, c.err)
		}
		if c.err == "" && (p.from != c.from || into != c.into || p.into == "") {
			t.Errorf("%s: from %q into %q", name, p.from, into)
		}
	}
	for name, text := range map[string]string{"marked": text(changed, "n", ""), "blank": ""} {
		same := plan{old: changed.Set, Terms: changed}
		if err := errors.Join(same.learn(text), same.check()); err == nil || !strings.Contains(err.Error(), "the same") {
			t.Errorf("of one set twice, %s: %v", name, err)
		}
	}
	alone := plan{old: []string{"a"}, Terms: changed}
	if err := alone.check(); err != nil || alone.from != aloneFrom {
		t.Errorf("from one master: %v", err)
	}
	if err := (&plan{old: old.Set, Terms: set("a")}).check(); err == nil || !strings.Contains(err.Error(), "a set of one master") {
		t.Errorf("to one master: %v", err)
	}
}

// Whatever quorum of the old set won a lock, one of the masters that are needed was
// in it, and without them no quorum is left.
func TestNeededMastersOfTheOldSetMeetEveryQuorum(t *testing.T) {
	for n := 1; n <= quorum.MaxMasters; n++ {
		p := plan{old: slices.Repeat([]string{"m"}, n)}
		if needed := p.needed(); needed+quorum.QuorumOf(n) != n+1 {
			t.Errorf("of %d masters %d are needed, and %d are a quorum", n, needed, quorum.QuorumOf(n))
		}
	}
}

// When step 3 is finished, nobody is admitted but who was given everything by then.
func TestWhoMayHaveVotedInTheNewSetIsLeftToTheProxies(t *testing.T) {
	then, later := marker.NewNonce(true), marker.NewNonce(true)
	for over, wants := range map[bool]map[part]map[marker.Nonce]part{
		false: {
			blank: {"": blank}, lost: {"": lost}, remembers: {later: remembers},
			begun: {then: begun, later: begun}, kept: {later: kept}, done: {later: done}, left: {later: left},
		},
		true: {
			blank: {"": forgetful}, lost: {"": forgetful}, remembers: {later: forgetful},
			begun: {then: begun, later: forgetful}, kept: {later: kept}, done: {later: done}, left: {later: left},
		},
	} {
		p := &plan{over: over}
		p.given[3] = []marker.Nonce{marker.NewNonce(true), then}
		for is, by := range wants {
			for read, want := range by {
				if got := p.revised(is, 3, read, false); got != want {
					t.Errorf("over %t, %v under %s: %v, want %v", over, is, read, got, want)
				}
			}
		}
		if over && p.revised(begun, 2, then, false) != forgetful {
			t.Error("what was given in one database counts in another")
		}
		if over && (p.revised(begun, 3, then, true) != forgetful || p.revised(kept, 3, then, true) != forgetful) {
			t.Error("a log from the middle of the change counts")
		}
	}
}
