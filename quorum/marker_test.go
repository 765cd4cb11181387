package quorum

import (
	"redlock-proxy/quorum/clock"
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
		"its own":                                         {testMarker().String(), here, "i", trusted, ""},
		"the first that is seen":                          {testMarker().String(), here, "", trusted, ""},
		"none anywhere":                                   {"", here, "", unmarked, ""},
		"none":                                            {"", here, "i", emptied, ""},
		"a process started anew":                          {testMarker().String(), anew, "i", restarted, ""},
		"one anew that was not durable":                   {testMarker().String(), durable, "i", restarted, ""},
		"one anew that is durable still":                  {testMarker(func(m *marker) { m.Durable = true }).String(), durable, "i", excused, ""},
		"one anew that is so no more":                     {testMarker(func(m *marker) { m.Durable = true }).String(), anew, "i", restarted, ""},
		"a quarantine":                                    {testMarker(func(m *marker) { m.nonce = newNonce(true) }).String(), here, "i", waiting, ""},
		"a quarantine, started anew":                      {testMarker(func(m *marker) { m.nonce = newNonce(true) }).String(), anew, "i", restarted, ""},
		"a quarantine, durable":                           {testMarker(func(m *marker) { m.nonce, m.Durable = newNonce(true), true }).String(), durable, "i", restarted, ""},
		"another member's memory":                         {testMarker(func(m *marker) { m.Member, m.RunID = "b", "r0" }).String(), here, "i", forgot, ""},
		"another member itself":                           {testMarker(func(m *marker) { m.Member = "b" }).String(), here, "i", 0, "the same server as b"},
		"another database's":                              {testMarker(func(m *marker) { m.DB = 3 }).String(), here, "i", forgot, ""},
		"one that names no database":                      {strings.Replace(testMarker().String(), `"db":0,`, "", 1), here, "i", trusted, ""},
		"another installation":                            {testMarker(func(m *marker) { m.Installation = "j" }).String(), here, "i", foreign, ""},
		"another spelling":                                {testMarker(func(m *marker) { m.Set, m.Member = []string{"10.0.0.1:6379", "b", "c"}, "10.0.0.1:6379" }).String(), here, "i", 0, "it is called 10.0.0.1:6379 in its set and a here: if that is the same server, add ?name=10.0.0.1:6379 to its URL; configure"},
		"another set":                                     {testMarker(func(m *marker) { m.Set = []string{"a", "b", "d"} }).String(), here, "i", 0, "its set has d, which the masters here have not; its set has no c;"},
		"another max-ttl":                                 {testMarker(func(m *marker) { m.MaxTTL = 1000 }).String(), here, "i", 0, "max-ttl is 1s on the masters and 5m0s here; configure"},
		"another acquire-timeout":                         {testMarker(func(m *marker) { m.AcquireTimeout = 1 }).String(), here, "i", 0, "acquire-timeout is 1ms on the masters and 250ms here; configure"},
		"another set, that ours was made of":              {testMarker(func(m *marker) { m.MaxTTL, m.Installation = 1000, "before" }).String(), anew, "i", outdated, ""},
		"the same, in the process that was admitted":      {testMarker(func(m *marker) { m.MaxTTL, m.Installation = 1000, "before" }).String(), here, "i", 0, "max-ttl is 1s"},
		"a change that was finished":                      {testMarker(func(m *marker) { m.nonce, m.Changing = newNonce(true), true }).String(), anew, "i", restarted, ""},
		"a change of which that is not known":             {testMarker(func(m *marker) { m.nonce, m.Changing = newNonce(true), true }).String(), anew, "", 0, "has not finished"},
		"a change, in the process that it has to do with": {testMarker(func(m *marker) { m.nonce, m.Changing = newNonce(true), true }).String(), here, "i", 0, "has not finished"},
		"what is no marker":                               {"hello", here, "i", 0, "no marker"},
	} {
		m, s, why, err := examine(c.text, c.who, "a", 0, ours, c.installation, "before")
		if s != c.standing || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: standing %d, %q, %v; want %d, %q", name, s, why, err, c.standing, c.err)
		}
		if (s == forgot || s == emptied || s == restarted) && why == "" {
			t.Errorf("%s: no reason", name)
		}
		if s == trusted && m.nonce == "" {
			t.Errorf("%s: no nonce", name)
		}
	}
}

// A clock that is set by less than is allowed, again and again, is found out all
// the same: not every batch is a new beginning.
func TestClockThatCreepsIsFoundOut(t *testing.T) {
	const step = 10 * time.Millisecond
	var a clock.Anchor
	for i := range 100 {
		now := time.Duration(i) * step
		if a.Look(clock.Sample{At: time.Hour + now + time.Duration(i)*time.Millisecond, Sent: now, Read: now}) != 0 {
			return
		}
	}
	t.Error("100 ms in a second were not noticed")
}

func TestJumpOfAQuorumTogetherMayBeOurs(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		jumps []time.Duration // it is about the first
		want  bool
	}{
		{[]time.Duration{0, 0, 0}, false},
		{[]time.Duration{s, 0, 0}, false},
		{[]time.Duration{s, s + 23*ms, 0}, true}, // a hundredth of two seconds, 2 ms, and as vague as both are
		{[]time.Duration{s, s + 24*ms, 0}, false},
		{[]time.Duration{s, 2 * s, 0}, false},
		{[]time.Duration{s, -s, s}, true},
		{[]time.Duration{-s, s, s}, false},
		{[]time.Duration{-s, -s, 0}, true},
		{[]time.Duration{s, s, 0, 0, 0}, false},
	} {
		var jumps []clock.Jump
		for _, by := range c.jumps {
			j := clock.Jump{Least: by - ms, Most: by + ms, From: time.Hour, To: time.Hour + s}
			if by == 0 {
				j = clock.Jump{}
			}
			jumps = append(jumps, j)
		}
		if got := clock.Together(jumps, jumps[0], quorumOf(len(jumps))); got != c.want {
			t.Errorf("%v: %v", c.jumps, got)
		}
	}
}
