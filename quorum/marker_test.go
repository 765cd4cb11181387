package quorum

import (
	"strings"
	"testing"
	"time"
)

func testMarker(change ...func(*marker)) marker {
	m := marker{
		nonce:        "v0123456789abcdef",
		Installation: "i",
		Member:       "a",
		terms:        terms{Set: []string{"a", "b", "c"}, AcquireTimeout: 250, MaxTTL: 300_000},
		RunID:        "r1",
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func TestMarkerReadsBackAsItWasWritten(t *testing.T) {
	for _, m := range []marker{
		testMarker(),
		testMarker(func(m *marker) { m.nonce, m.Why, m.Elapsed = newNonce(true), "its marker is gone", 1234 }),
		testMarker(func(m *marker) { m.Durable = true }),
	} {
		got, err := parseMarker(m.String())
		if err != nil || got.String() != m.String() || got.nonce != m.nonce {
			t.Errorf("%v, %v, want %v", got, err, m)
		}
		if nonceOf(m.String()) != m.nonce {
			t.Errorf("its nonce is read as %q", nonceOf(m.String()))
		}
	}
	for _, text := range []string{
		"x", "v0123456789abcdef", "v0123456789abcdeg {}", "x0123456789abcdef {}", "v0123456789abcdef {", "v0123456789abcdef0 {}",
	} {
		if m, err := parseMarker(text); err == nil {
			t.Errorf("%q is read as %v", text, m)
		}
	}
}

func TestWhatAMarkerMakesOfAMaster(t *testing.T) {
	here := identity{runID: "r1"}
	anew := identity{runID: "r2"}
	durable := identity{runID: "r2", durable: true}
	ours := testMarker().terms
	for name, c := range map[string]struct {
		text         string
		who          identity
		installation string
		standing     standing
		err          string
	}{
		"its own":                        {testMarker().String(), here, "i", trusted, ""},
		"the first that is seen":         {testMarker().String(), here, "", trusted, ""},
		"none anywhere":                  {"", here, "", unmarked, ""},
		"none":                           {"", here, "i", forgot, ""},
		"a process started anew":         {testMarker().String(), anew, "i", forgot, ""},
		"one anew that was not durable":  {testMarker().String(), durable, "i", forgot, ""},
		"one anew that is durable still": {testMarker(func(m *marker) { m.Durable = true }).String(), durable, "i", excused, ""},
		"one anew that is so no more":    {testMarker(func(m *marker) { m.Durable = true }).String(), anew, "i", forgot, ""},
		"a quarantine":                   {testMarker(func(m *marker) { m.nonce = newNonce(true) }).String(), here, "i", waiting, ""},
		"a quarantine, started anew":     {testMarker(func(m *marker) { m.nonce = newNonce(true) }).String(), anew, "i", waiting, ""},
		"a quarantine, durable":          {testMarker(func(m *marker) { m.nonce, m.Durable = newNonce(true), true }).String(), durable, "i", waiting, ""},
		"another member's memory":        {testMarker(func(m *marker) { m.Member, m.RunID = "b", "r0" }).String(), here, "i", forgot, ""},
		"another member itself":          {testMarker(func(m *marker) { m.Member = "b" }).String(), here, "i", 0, "the same server as b"},
		"another installation":           {testMarker(func(m *marker) { m.Installation = "j" }).String(), here, "i", 0, "installation j"},
		"another set":                    {testMarker(func(m *marker) { m.Set = []string{"a", "b", "d"} }).String(), here, "i", 0, "a b d"},
		"another max-ttl":                {testMarker(func(m *marker) { m.MaxTTL = 1000 }).String(), here, "i", 0, "max-ttl 1s"},
		"another acquire-timeout":        {testMarker(func(m *marker) { m.AcquireTimeout = 1 }).String(), here, "i", 0, "acquire-timeout 1ms"},
		"what is no marker":              {"hello", here, "i", 0, "no marker"},
	} {
		m, s, why, err := examine(c.text, c.who, "a", ours, c.installation)
		if s != c.standing || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: standing %d, %q, %v; want %d, %q", name, s, why, err, c.standing, c.err)
		}
		if s == forgot && why == "" {
			t.Errorf("%s: no reason", name)
		}
		if s == trusted && m.nonce == "" {
			t.Errorf("%s: no nonce", name)
		}
	}
}

func TestClockThatJumpsIsFoundOut(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	at := func(now, clock, roundTrip time.Duration) sighting { return sighting{clock, now, now + roundTrip} }
	for name, c := range map[string]struct {
		a, b sighting
		by   time.Duration
	}{
		"true":                            {at(0, 100*s, 0), at(10*s, 110*s, 0), 0},
		"within a hundredth":              {at(0, 100*s, 0), at(10*s, 110*s+100*ms, 0), 0},
		"late by a hundredth":             {at(0, 100*s, 0), at(10*s, 110*s-100*ms, 0), 0},
		"forward":                         {at(0, 100*s, 0), at(10*s, 111*s, 0), s},
		"back":                            {at(0, 100*s, 0), at(10*s, 109*s, 0), -s},
		"forward, hidden by a slow reply": {at(0, 100*s, 0), at(10*s, 111*s, s), 0},
		"forward, beyond a slow reply":    {at(0, 100*s, 0), at(10*s, 113*s, s), 2 * s},
		"back, beyond a slow reply":       {at(0, 100*s, s), at(10*s, 107*s, s), -2 * s},
		"a proxy that slept on a batch":   {at(0, 100*s, 0), at(10*s, 110*s, 500*s), 0},
		"a tiny jump at once":             {at(0, 100*s, 0), at(1*ms, 100*s+4*ms, 0), 3 * ms},
		"less than is allowed at once":    {at(0, 100*s, 0), at(1*ms, 100*s+3*ms, 0), 0},
	} {
		if by := c.a.moved(c.b); by != c.by {
			t.Errorf("%s: moved by %v, want %v", name, by, c.by)
		}
	}
}

// A clock that is set by less than is allowed, again and again, is found out all
// the same: not every batch is a new beginning.
func TestClockThatCreepsIsFoundOut(t *testing.T) {
	const step = 10 * time.Millisecond
	anchor := sighting{at: time.Hour}
	for i := range 100 {
		now := time.Duration(i+1) * step
		later := sighting{at: time.Hour + now + time.Duration(i+1)*time.Millisecond, sent: now, read: now}
		if anchor.moved(later) != 0 {
			return
		}
		anchor = anchor.next(later, time.Second)
	}
	t.Error("100 ms in a second were not noticed")
}

func TestJumpOfAQuorumTogetherMayBeOurs(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		jumps []time.Duration
		want  bool
	}{
		{[]time.Duration{0, 0, 0}, false},
		{[]time.Duration{s, 0, 0}, false},
		{[]time.Duration{s, s + 20*time.Millisecond, 0}, true},
		{[]time.Duration{s, 2 * s, 0}, false},
		{[]time.Duration{s, -s, s}, true},
		{[]time.Duration{-s, -s, 0}, true},
		{[]time.Duration{s, s, 0, 0, 0}, false},
	} {
		if got := together(c.jumps, quorumOf(len(c.jumps))); got != c.want {
			t.Errorf("%v: %v", c.jumps, got)
		}
	}
}
