package clock

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// seenClock is a master's clock as only a test can know it, and the looks at it.
type seenClock struct {
	ahead time.Duration // of ours
	now   time.Duration // by ours
	looks []trueLook
}

// trueLook is a look with what it hides: how long its request was on its way, and its
// reply; and by how much the clock was ahead.
type trueLook struct {
	Sample
	request, reply, ahead time.Duration
}

// look looks at the clock after a while in which it has gained.
func (c *seenClock) look(after, gained, request, reply time.Duration) Sample {
	c.now += after
	c.ahead += gained
	l := Sample{At: c.now + request + c.ahead, Sent: c.now, Read: c.now + request + reply}
	c.now = l.Read
	c.looks = append(slices.Clip(c.looks), trueLook{l, request, reply, c.ahead})
	return l
}

// change tells whether the last look must show that the clock has changed beside any
// look before, as it did by more than drift and the two looks hide; and whether it may,
// as that was more than drift allows. Unlike the anchor it knows the truth, and all looks.
func (c *seenClock) change() (must, may bool) {
	later := c.looks[len(c.looks)-1]
	for _, l := range c.looks {
		by, allowed := later.ahead-l.ahead, Drift(later.Read-l.Sent)
		must = must || by > allowed+l.request+later.reply || -by > allowed+l.reply+later.request
		may = may || by.Abs() > Drift(later.Sent+later.request-l.Sent-l.request)
	}
	return must, may
}

// looked has the anchor see a look, and compares what it finds with the truth.
func (c *seenClock) looked(t *testing.T, a *Anchor, l Sample) (found bool) {
	t.Helper()
	found = a.Look(l) != 0
	if must, may := c.change(); found && !may || !found && must {
		t.Fatalf("found: %v, where that must be: %v, and may be: %v: %+v", found, must, may, c.looks)
	}
	return found
}

// Each sequence there is of three looks like these: after a moment or a long while, sharp
// or vague on either way, at a clock that is set, that slews, or that runs true.
func TestNoChangeOfAClockHidesBehindAnotherLook(t *testing.T) {
	const s = time.Second
	ways := []time.Duration{0, 3 * ms, 450 * ms}
	sequences := 0
	var walk func(was seenClock, seen Anchor, more int)
	walk = func(was seenClock, seen Anchor, more int) {
		if sequences++; more == 0 {
			return
		}
		for _, after := range []time.Duration{ms, s, 100 * s} {
			for _, gained := range []time.Duration{0, after / 100, -after / 100, after / 50, 5 * ms, 400 * ms, -400 * ms} {
				for _, request := range ways {
					for _, reply := range ways {
						c, a := was, seen
						if !c.looked(t, &a, c.look(after, gained, request, reply)) {
							walk(c, a, more-1)
						}
					}
				}
			}
		}
	}
	for _, request := range ways {
		for _, reply := range ways {
			var c seenClock
			var a Anchor
			c.looked(t, &a, c.look(time.Hour, time.Hour, request, reply))
			walk(c, a, 2)
		}
	}
	if sequences < 10_000 {
		t.Errorf("only %d", sequences)
	}
}

// As many looks as a busy moment has, and as an hour that is nearly idle.
func TestNoChangeOfAClockHidesInManyLooks(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	some := func(most time.Duration) time.Duration { return time.Duration(r.Int64N(int64(most) + 1)) }
	found := 0
	for range 300 {
		var c seenClock
		var a Anchor
		longest := []time.Duration{10 * ms, time.Second, 5 * time.Minute}[r.IntN(3)]
		slews := time.Duration(r.IntN(41) - 20) // thousandths
		for range 200 {
			after := some(longest)
			gained := after / 1000 * slews
			if r.IntN(100) == 0 {
				gained += some(time.Second) - time.Second/2
			}
			way := []time.Duration{ms, 5 * ms, 450 * ms}[r.IntN(3)]
			if c.looked(t, &a, c.look(after, gained, some(way), some(way))) {
				found++
				break
			}
		}
	}
	if found < 100 || found == 300 {
		t.Errorf("a change was found in %d of 300", found)
	}
}

// What the vagueness of looks can cost a lock: nobody hears that it is free before it has
// ended by its holder's clock, but for the time that the master waited between its SET
// and the TIME of that batch. The key may be gone earlier.
func TestNobodyHearsTooEarlyThatALockIsFree(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 2))
	some := func(most time.Duration) time.Duration { return time.Duration(r.Int64N(int64(most) + 1)) }
	early := 0
	for range 20_000 {
		var c seenClock
		var a Anchor
		for range r.IntN(4) {
			a.Look(c.look(some(time.Second), 0, some(5*ms), some(5*ms)))
		}
		ttl := 30*ms + some(5*time.Second)
		waited := some(10 * ms) // between SET and TIME
		l := c.look(some(time.Second), 0, waited+some(5*ms), some(450*ms))
		a.Look(l)
		ends := l.At - waited + Pad(ttl) // by the master's clock
		for c.now < l.Sent+ttl {
			gained := time.Duration(0)
			if r.IntN(3) == 0 {
				gained = some(500 * ms)
			}
			later := c.look(some(ttl/2), gained, some(5*ms), some(450*ms))
			if a.Look(later) != 0 {
				break
			}
			if later.At < ends {
				continue
			}
			if later.At-c.ahead < l.Sent+ttl {
				early++
			}
			if later.Read < l.Sent+ttl-waited {
				t.Fatalf("%v of %v, heard after %v: %+v", ttl, waited, later.Read-l.Sent, c.looks)
			}
		}
	}
	if early == 0 {
		t.Error("no key was gone too early")
	}
}

// Looks of several lanes at one master need not come in the order in which they were made.
func TestLooksMayComeInAnyOrder(t *testing.T) {
	for _, rate := range []time.Duration{-9, 0, 9} { // thousandths
		at := func(now time.Duration) Sample {
			return Sample{At: now + now/1000*rate, Sent: now, Read: now}
		}
		var a Anchor
		for _, now := range []time.Duration{10, 14, 11, 30, 12, 13, 60, 10} {
			if by := a.Look(at(now * time.Second)); by != 0 {
				t.Errorf("a clock that runs by %d thousandths too fast: moved by %v", rate, by)
			}
		}
	}
}

func TestClockThatJumpsIsFoundOut(t *testing.T) {
	const s = time.Second
	at := func(now, clock, roundTrip time.Duration) Sample {
		return Sample{clock, now, now + roundTrip}
	}
	for name, c := range map[string]struct {
		a, b Sample
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
		if by := c.a.Moved(c.b); by != c.by {
			t.Errorf("%s: moved by %v, want %v", name, by, c.by)
		}
	}
}

func TestClockThatCreepsIsFoundOut(t *testing.T) {
	const step = 10 * time.Millisecond
	var a Anchor
	for i := range 100 {
		now := time.Duration(i) * step
		if a.Look(Sample{At: time.Hour + now + time.Duration(i)*time.Millisecond, Sent: now, Read: now}) != 0 {
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
		var jumps []Jump
		for _, by := range c.jumps {
			j := Jump{Least: by - ms, Most: by + ms, From: time.Hour, To: time.Hour + s}
			if by == 0 {
				j = Jump{}
			}
			jumps = append(jumps, j)
		}
		if got := Together(jumps, jumps[0], len(jumps)/2+1); got != c.want {
			t.Errorf("%v: %v", c.jumps, got)
		}
	}
}
