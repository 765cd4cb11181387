package registry

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestTTLIsCountedFromWhenItWasAskedFor(t *testing.T) {
	const at, now = 10 * second, 15 * second
	act := func(what What, token string, ttl time.Duration) *Act {
		a := &Act{What: what, Key: "k", TTL: ttl, At: at, Took: ms, By: alice}
		if token != "" {
			a.Signs = SignedBy(token)
		}
		return a
	}
	first := granted("k", "t", alice, second) // for 30 s
	sign := uint64(SignOf("t"))
	for name, c := range map[string]struct {
		acts []*Act
		want quorum.Counted
	}{
		"nothing":                         {nil, quorum.Counted{}},
		"a lock":                          {[]*Act{first}, quorum.Counted{TTL: 30 * second, Left: 16 * second, Sign: sign}},
		"extended":                        {[]*Act{first, act(Extended, "t", 10*second)}, quorum.Counted{TTL: 10 * second, Left: 5 * second, Sign: sign}},
		"given another end by nobody":     {[]*Act{first, act(Extended, "", 3*second)}, quorum.Counted{TTL: 3 * second, Left: -2 * second, Sign: sign}},
		"refused to another":              {[]*Act{first, act(Refused, "u", 3*second)}, quorum.Counted{TTL: 30 * second, Left: 16 * second, Sign: sign}},
		"released":                        {[]*Act{first, act(Released, "t", 0)}, quorum.Counted{}},
		"for ever":                        {[]*Act{first, act(Written, "t", NoTTL)}, quorum.Counted{}},
		"written":                         {[]*Act{first, act(Written, "t", 4*second)}, quorum.Counted{TTL: 4 * second, Left: -second}},
		"written, and not known for what": {[]*Act{first, act(Written, "t", UnknownTTL)}, quorum.Counted{}},
		"written, and ends as before":     {[]*Act{first, act(Written, "t", SameTTL)}, quorum.Counted{TTL: 30 * second, Left: 16 * second}},
		"as before, which is not known":   {[]*Act{act(Written, "t", SameTTL)}, quorum.Counted{}},
		"as before, when it was released": {[]*Act{first, act(Released, "t", 0), act(Written, "t", SameTTL)}, quorum.Counted{}},
	} {
		r := New(64)
		for _, a := range c.acts {
			r.Note(a)
		}
		if got := r.Counted(0, "k", now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := r.Counted(1, "k", now); got != (quorum.Counted{}) {
			t.Errorf("%s: in another database %v", name, got)
		}
	}
	r := New(64)
	r.Note(first)
	r.Flush(0, at)
	if got := r.Counted(0, "k", now); got != (quorum.Counted{}) {
		t.Errorf("flushed: %v", got)
	}
}

// What is taken off a ttl is a hundredth of it: so much shorter may it be here.
func TestBriefTTLIsNotFarOff(t *testing.T) {
	for ttl := ms; ttl < 37*time.Hour; ttl = ttl*101/100 + ms {
		if got := briefTTLOf(ttl).duration(); got > ttl || got < ttl-ms-ttl/4096*2 {
			t.Errorf("%v is %v", ttl, got)
		}
	}
	for _, ttl := range []time.Duration{NoTTL, UnknownTTL, SameTTL, 0, 38 * time.Hour, 1 << 62} {
		if b := briefTTLOf(ttl); b != 0 {
			t.Errorf("%v is %v", ttl, b.duration())
		}
	}
}
