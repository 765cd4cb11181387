package marker

import (
	"strings"
	"testing"
)

func aMarker(change ...func(*Marker)) Marker {
	m := Marker{
		Nonce:        "v0123456789abcdef",
		Installation: "i",
		Member:       "a",
		Terms:        Terms{Set: []string{"a", "b", "c"}, AcquireTimeout: 250, MaxTTL: 300_000},
		RunID:        "r1",
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func TestMarkerReadsBackAsItWasWritten(t *testing.T) {
	for _, m := range []Marker{
		aMarker(),
		aMarker(func(m *Marker) { m.Nonce, m.Why, m.Elapsed = NewNonce(true), "its marker is gone", 1234 }),
		aMarker(func(m *Marker) { m.Durable = true }),
	} {
		got, err := Parse(m.String())
		if err != nil || got.String() != m.String() || got.Nonce != m.Nonce {
			t.Errorf("%v, %v, want %v", got, err, m)
		}
		if NonceOf(m.String()) != m.Nonce {
			t.Errorf("its nonce is read as %q", NonceOf(m.String()))
		}
	}
	for _, text := range []string{
		"x", "v0123456789abcdef", "v0123456789abcdeg {}", "x0123456789abcdef {}", "v0123456789abcdef {", "v0123456789abcdef0 {}",
	} {
		if m, err := Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, m)
		}
	}
}

func TestWhatAMarkerMakesOfAMaster(t *testing.T) {
	here := Identity{RunID: "r1"}
	anew := Identity{RunID: "r2"}
	durable := Identity{RunID: "r2", Durable: true}
	ours := aMarker().Terms
	for name, c := range map[string]struct {
		text         string
		who          Identity
		installation string
		Verdict      Verdict
		err          string
	}{
		"its own":                                         {aMarker().String(), here, "i", Trusted, ""},
		"the first that is seen":                          {aMarker().String(), here, "", Trusted, ""},
		"none anywhere":                                   {"", here, "", Unmarked, ""},
		"none":                                            {"", here, "i", Emptied, ""},
		"a process started anew":                          {aMarker().String(), anew, "i", Restarted, ""},
		"one anew that was not durable":                   {aMarker().String(), durable, "i", Restarted, ""},
		"one anew that is durable still":                  {aMarker(func(m *Marker) { m.Durable = true }).String(), durable, "i", Excused, ""},
		"one anew that is so no more":                     {aMarker(func(m *Marker) { m.Durable = true }).String(), anew, "i", Restarted, ""},
		"a quarantine":                                    {aMarker(func(m *Marker) { m.Nonce = NewNonce(true) }).String(), here, "i", Waiting, ""},
		"a quarantine, started anew":                      {aMarker(func(m *Marker) { m.Nonce = NewNonce(true) }).String(), anew, "i", Restarted, ""},
		"a quarantine, durable":                           {aMarker(func(m *Marker) { m.Nonce, m.Durable = NewNonce(true), true }).String(), durable, "i", Restarted, ""},
		"another member's memory":                         {aMarker(func(m *Marker) { m.Member, m.RunID = "b", "r0" }).String(), here, "i", Forgot, ""},
		"another member itself":                           {aMarker(func(m *Marker) { m.Member = "b" }).String(), here, "i", 0, "the same server as b"},
		"another database's":                              {aMarker(func(m *Marker) { m.DB = 3 }).String(), here, "i", Forgot, ""},
		"one that names no database":                      {strings.Replace(aMarker().String(), `"db":0,`, "", 1), here, "i", Trusted, ""},
		"another installation":                            {aMarker(func(m *Marker) { m.Installation = "j" }).String(), here, "i", Foreign, ""},
		"another spelling":                                {aMarker(func(m *Marker) { m.Set, m.Member = []string{"10.0.0.1:6379", "b", "c"}, "10.0.0.1:6379" }).String(), here, "i", 0, "it is called 10.0.0.1:6379 in its set and a here: if that is the same server, add ?name=10.0.0.1:6379 to its URL; configure"},
		"another set":                                     {aMarker(func(m *Marker) { m.Set = []string{"a", "b", "d"} }).String(), here, "i", 0, "its set has d, which the masters here have not; its set has no c;"},
		"another max-ttl":                                 {aMarker(func(m *Marker) { m.MaxTTL = 1000 }).String(), here, "i", 0, "max-ttl is 1s on the masters and 5m0s here; configure"},
		"another acquire-timeout":                         {aMarker(func(m *Marker) { m.AcquireTimeout = 1 }).String(), here, "i", 0, "acquire-timeout is 1ms on the masters and 250ms here; configure"},
		"another set, that ours was made of":              {aMarker(func(m *Marker) { m.MaxTTL, m.Installation = 1000, "before" }).String(), anew, "i", Outdated, ""},
		"the same, in the process that was admitted":      {aMarker(func(m *Marker) { m.MaxTTL, m.Installation = 1000, "before" }).String(), here, "i", 0, "max-ttl is 1s"},
		"a change that was finished":                      {aMarker(func(m *Marker) { m.Nonce, m.Changing = NewNonce(true), true }).String(), anew, "i", Restarted, ""},
		"a change of which that is not known":             {aMarker(func(m *Marker) { m.Nonce, m.Changing = NewNonce(true), true }).String(), anew, "", 0, "has not finished"},
		"a change, in the process that it has to do with": {aMarker(func(m *Marker) { m.Nonce, m.Changing = NewNonce(true), true }).String(), here, "i", 0, "has not finished"},
		"what is no marker":                               {"hello", here, "i", 0, "no marker"},
	} {
		m, s, why, err := Examine(c.text, c.who, "a", 0, ours, c.installation, "before")
		if s != c.Verdict || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: standing %d, %q, %v; want %d, %q", name, s, why, err, c.Verdict, c.err)
		}
		if (s == Forgot || s == Emptied || s == Restarted) && why == "" {
			t.Errorf("%s: no reason", name)
		}
		if s == Trusted && m.Nonce == "" {
			t.Errorf("%s: no nonce", name)
		}
	}
}
