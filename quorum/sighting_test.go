package quorum

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
	sighting
	request, reply, ahead time.Duration
}

// look looks at the clock after a while in which it has gained.
func (c *seenClock) look(after, gained, request, reply time.Duration) sighting {
	c.now += after
	c.ahead += gained
	l := sighting{at: c.now + request + c.ahead, sent: c.now, read: c.now + request + reply}
	c.now = l.read
	c.looks = append(slices.Clip(c.looks), trueLook{l, request, reply, c.ahead})
	return l
}

// change tells whether the last look must show that the clock has changed beside any
// look before, as it did by more than drift and the two looks hide; and whether it may,
// as that was more than drift allows. Unlike the anchor it knows the truth, and all looks.
func (c *seenClock) change() (must, may bool) {
	later := c.looks[len(c.looks)-1]
	for _, l := range c.looks {
		by, allowed := later.ahead-l.ahead, drift(later.read-l.sent)
		must = must || by > allowed+l.request+later.reply || -by > allowed+l.reply+later.request
		may = may || by.Abs() > drift(later.sent+later.request-l.sent-l.request)
	}
	return must, may
}

// looked has the anchor see a look, and compares what it finds with the truth.
func (c *seenClock) looked(t *testing.T, a *anchor, l sighting) (found bool) {
	t.Helper()
	found = a.look(l) != 0
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
	var walk func(was seenClock, seen anchor, more int)
	walk = func(was seenClock, seen anchor, more int) {
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
			var a anchor
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
		var a anchor
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
		var a anchor
		for range r.IntN(4) {
			a.look(c.look(some(time.Second), 0, some(5*ms), some(5*ms)))
		}
		ttl := 30*ms + some(5*time.Second)
		waited := some(10 * ms) // between SET and TIME
		l := c.look(some(time.Second), 0, waited+some(5*ms), some(450*ms))
		a.look(l)
		ends := l.at - waited + pad(ttl) // by the master's clock
		for c.now < l.sent+ttl {
			gained := time.Duration(0)
			if r.IntN(3) == 0 {
				gained = some(500 * ms)
			}
			later := c.look(some(ttl/2), gained, some(5*ms), some(450*ms))
			if a.look(later) != 0 {
				break
			}
			if later.at < ends {
				continue
			}
			if later.at-c.ahead < l.sent+ttl {
				early++
			}
			if later.read < l.sent+ttl-waited {
				t.Fatalf("%v of %v, heard after %v: %+v", ttl, waited, later.read-l.sent, c.looks)
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
		at := func(now time.Duration) sighting {
			return sighting{at: now + now/1000*rate, sent: now, read: now}
		}
		var a anchor
		for _, now := range []time.Duration{10, 14, 11, 30, 12, 13, 60, 10} {
			if by := a.look(at(now * time.Second)); by != 0 {
				t.Errorf("a clock that runs by %d thousandths too fast: moved by %v", rate, by)
			}
		}
	}
}
