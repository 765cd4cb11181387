package engine

import (
	"testing"

	"redlock-proxy/quorum"
)

// The tally is walked over every way in which up to seven masters can have
// voted, and compared with a second implementation that is as dumb as can be:
// it follows the words of the rules, and finds out whether a decision is due by
// trying every way in which the votes could go on.

// eachTally calls f with every tally of n masters.
func eachTally(n int, f func(tally)) {
	for g := range n + 1 {
		for r := range n - g + 1 {
			for u := range n - g - r + 1 {
				for w := range n - g - r - u + 1 {
					f(tally{masters: n, granted: g, refused: r, unknown: u, withheld: w, pending: n - g - r - u - w})
				}
			}
		}
	}
}

// completions are the tallies that t can still become.
func (t tally) completions() (all []tally) {
	eachTally(t.masters, func(c tally) {
		if c.pending == 0 && c.granted >= t.granted && c.refused >= t.refused &&
			c.unknown >= t.unknown && c.withheld >= t.withheld {
			all = append(all, c)
		}
	})
	return all
}

// unanimous is what rule makes of every completion of t, or undecided if that
// is not one and the same.
func unanimous(t tally, rule func(tally) quorum.Decision) quorum.Decision {
	all := t.completions()
	d := rule(all[0])
	for _, c := range all {
		if rule(c) != d {
			return quorum.Undecided
		}
	}
	return d
}

func needed(n int) int { return n/2 + 1 }

// dumbAcquire: won when a quorum granted; contended when N-quorum+1 refused,
// which is a split if something was granted and no one value was seen on a
// quorum; and when neither can happen any more, a split if granted and refused
// together make a quorum, else unavailable.
func dumbAcquire(t tally, seen bool) quorum.Decision {
	rule := func(c tally) quorum.Decision {
		switch {
		case c.granted >= needed(c.masters):
			return quorum.Won
		case c.refused >= c.masters-needed(c.masters)+1:
			return quorum.Contended
		case c.granted+c.refused >= needed(c.masters):
			return quorum.Split
		}
		return quorum.Unavailable
	}
	d := unanimous(t, rule)
	if d == quorum.Contended && t.granted > 0 && !seen {
		return quorum.Split
	}
	return d
}

// dumbRelease: yes if deleted >= 1 and deleted + unknown >= quorum; no if that
// is impossible, whatever the unknown masters did; else unknown.
func dumbRelease(t tally) quorum.Decision {
	return unanimous(t, func(c tally) quorum.Decision {
		may := c.granted + c.unknown + c.withheld
		switch {
		case c.granted >= 1 && may >= needed(c.masters):
			return quorum.Won
		case may < needed(c.masters):
			return quorum.Contended
		}
		return quorum.Unavailable
	})
}

// dumbExtend: yes at a quorum of yes; no when a blocking minority says no; else
// unknown.
func dumbExtend(t tally) quorum.Decision {
	return unanimous(t, func(c tally) quorum.Decision {
		switch {
		case c.granted >= needed(c.masters):
			return quorum.Won
		case c.refused >= c.masters-needed(c.masters)+1:
			return quorum.Contended
		}
		return quorum.Unavailable
	})
}

func TestTallyDecidesAsTheRulesSay(t *testing.T) {
	for n := 1; n <= 7; n++ {
		eachTally(n, func(c tally) {
			for _, seen := range []bool{false, true} {
				if got, want := c.acquire(func() bool { return seen }), dumbAcquire(c, seen); got != want {
					t.Errorf("acquire %+v seen %v: %v, want %v", c, seen, got, want)
				}
			}
			if got, want := c.release(), dumbRelease(c); got != want {
				t.Errorf("release %+v: %v, want %v", c, got, want)
			}
			if got, want := c.extend(), dumbExtend(c); got != want {
				t.Errorf("extend %+v: %v, want %v", c, got, want)
			}
		})
	}
}

func TestEveryTallyIsDecidedWhenAllHaveVoted(t *testing.T) {
	for n := 1; n <= 7; n++ {
		eachTally(n, func(c tally) {
			if c.pending > 0 {
				return
			}
			for most := range c.granted + 1 {
				for _, d := range []quorum.Decision{
					c.acquire(func() bool { return false }), c.acquire(func() bool { return true }),
					c.release(), c.extend(), c.read(most), c.write(most),
				} {
					if d == quorum.Undecided {
						t.Errorf("%+v is undecided", c)
					}
				}
			}
		})
	}
}

// next are the tallies after one more vote.
func (t tally) next() (all []tally) {
	if t.pending == 0 {
		return nil
	}
	t.pending--
	for _, add := range []*int{&t.granted, &t.refused, &t.unknown, &t.withheld} {
		*add++
		all = append(all, t)
		*add--
	}
	return all
}

func TestDecisionIsNotChangedByAFurtherVote(t *testing.T) {
	for n := 1; n <= 7; n++ {
		eachTally(n, func(c tally) {
			for name, rule := range map[string]func(tally) quorum.Decision{
				"acquire": func(c tally) quorum.Decision { return c.acquire(func() bool { return true }) },
				"release": tally.release,
				"extend":  tally.extend,
			} {
				d := rule(c)
				for _, further := range c.next() {
					if d != quorum.Undecided && rule(further) != d {
						t.Errorf("%s %+v: %v, but %v after %+v", name, c, d, rule(further), further)
					}
				}
			}
		})
	}
}

func TestTwoQuorumsAlwaysMeet(t *testing.T) {
	for n := 1; n <= 7; n++ {
		// Each master grants the lock to the first, the second or nobody.
		for code := range pow(3, n) {
			var first, second counted
			for i, rest := 0, code; i < n; i, rest = i+1, rest/3 {
				a, b := quorum.Refused, quorum.Refused
				switch rest % 3 {
				case 0:
					a = quorum.Granted
				case 1:
					b = quorum.Granted
				}
				first, second = first.voted(i, a, a == quorum.Granted), second.voted(i, b, b == quorum.Granted)
			}
			never := func() bool { return false }
			if first.tally(n).acquire(never) == quorum.Won && second.tally(n).acquire(never) == quorum.Won {
				t.Fatalf("n=%d: both won with %x and %x", n, first, second)
			}
		}
	}
	for n := 1; n <= quorum.MaxMasters; n++ {
		if 2*quorum.QuorumOf(n) <= n {
			t.Errorf("two quorums of %d masters need not meet", n)
		}
	}
}

func pow(b, e int) int {
	p := 1
	for range e {
		p *= b
	}
	return p
}
