package decide

import (
	"testing"

	"redlock-proxy/quorum"
)

// The tally is walked over every way in which up to seven masters can have
// voted, and compared with a second implementation that is as dumb as can be:
// it follows the words of the rules, and finds out whether a decision is due by
// trying every way in which the votes could go on.

// eachTally calls f with every tally of n masters.
func eachTally(n int, f func(Tally)) {
	for g := range n + 1 {
		for r := range n - g + 1 {
			for u := range n - g - r + 1 {
				for w := range n - g - r - u + 1 {
					f(Tally{masters: n, Granted: g, Refused: r, unknown: u, withheld: w, pending: n - g - r - u - w})
				}
			}
		}
	}
}

// completions are the tallies that t can still become.
func (t Tally) completions() (all []Tally) {
	eachTally(t.masters, func(c Tally) {
		if c.pending == 0 && c.Granted >= t.Granted && c.Refused >= t.Refused &&
			c.unknown >= t.unknown && c.withheld >= t.withheld {
			all = append(all, c)
		}
	})
	return all
}

// unanimous is what rule makes of every completion of t, or undecided if that
// is not one and the same.
func unanimous(t Tally, rule func(Tally) quorum.Decision) quorum.Decision {
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
func dumbAcquire(t Tally, seen bool) quorum.Decision {
	rule := func(c Tally) quorum.Decision {
		switch {
		case c.Granted >= needed(c.masters):
			return quorum.Won
		case c.Refused >= c.masters-needed(c.masters)+1:
			return quorum.Contended
		case c.Granted+c.Refused >= needed(c.masters):
			return quorum.Split
		}
		return quorum.Unavailable
	}
	d := unanimous(t, rule)
	if d == quorum.Contended && t.Granted > 0 && !seen {
		return quorum.Split
	}
	return d
}

// dumbRelease: yes if deleted >= 1 and deleted + unknown >= quorum; no if that
// is impossible, whatever the unknown masters did; else unknown.
func dumbRelease(t Tally) quorum.Decision {
	return unanimous(t, func(c Tally) quorum.Decision {
		may := c.Granted + c.unknown + c.withheld
		switch {
		case c.Granted >= 1 && may >= needed(c.masters):
			return quorum.Won
		case may < needed(c.masters):
			return quorum.Contended
		}
		return quorum.Unavailable
	})
}

// dumbExtend: yes at a quorum of yes; no when a blocking minority says no; else
// unknown.
func dumbExtend(t Tally) quorum.Decision {
	return unanimous(t, func(c Tally) quorum.Decision {
		switch {
		case c.Granted >= needed(c.masters):
			return quorum.Won
		case c.Refused >= c.masters-needed(c.masters)+1:
			return quorum.Contended
		}
		return quorum.Unavailable
	})
}

func TestTallyDecidesAsTheRulesSay(t *testing.T) {
	for n := 1; n <= 7; n++ {
		eachTally(n, func(c Tally) {
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
		eachTally(n, func(c Tally) {
			if c.pending > 0 {
				return
			}
			for most := range c.Granted + 1 {
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
func (t Tally) next() (all []Tally) {
	if t.pending == 0 {
		return nil
	}
	t.pending--
	for _, add := range []*int{&t.Granted, &t.Refused, &t.unknown, &t.withheld} {
		*add++
		all = append(all, t)
		*add--
	}
	return all
}

func TestDecisionIsNotChangedByAFurtherVote(t *testing.T) {
	for n := 1; n <= 7; n++ {
		eachTally(n, func(c Tally) {
			for name, rule := range map[string]func(Tally) quorum.Decision{
				"acquire": func(c Tally) quorum.Decision { return c.acquire(func() bool { return true }) },
				"release": Tally.release,
				"extend":  Tally.extend,
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
			var first, second Votes
			for i, rest := 0, code; i < n; i, rest = i+1, rest/3 {
				a, b := quorum.Refused, quorum.Refused
				switch rest % 3 {
				case 0:
					a = quorum.Granted
				case 1:
					b = quorum.Granted
				}
				first, second = first.Voted(i, a, a == quorum.Granted), second.Voted(i, b, b == quorum.Granted)
			}
			never := func() bool { return false }
			if first.Tally(n).acquire(never) == quorum.Won && second.Tally(n).acquire(never) == quorum.Won {
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

// dumbSurvey: when nobody is waited for, won if as many answered as must.
func dumbSurvey(t Tally, asked int) quorum.Decision {
	return unanimousOnceAllAreIn(t, func(c Tally) quorum.Decision {
		if c.Granted >= asked {
			return quorum.Won
		}
		return quorum.Unavailable
	})
}

// unanimousOnceAllAreIn is unanimous, but a Won waits for every vote.
func unanimousOnceAllAreIn(t Tally, rule func(Tally) quorum.Decision) quorum.Decision {
	d := unanimous(t, rule)
	if d == quorum.Won && t.pending > 0 {
		return quorum.Undecided
	}
	return d
}

func TestSurveyWaitsForEveryAnswerThatCouldCount(t *testing.T) {
	for n := 1; n <= 7; n++ {
		eachTally(n, func(c Tally) {
			for _, asked := range []int{1, quorum.QuorumOf(n)} {
				got := c.survey(asked)
				if want := dumbSurvey(c, asked); got != want {
					t.Errorf("%+v of %d asked: %v, want %v", c, asked, got, want)
				}
				if c.pending == 0 && got == quorum.Undecided {
					t.Errorf("%+v of %d asked is undecided", c, asked)
				}
				for _, further := range c.next() {
					if got != quorum.Undecided && further.survey(asked) != got {
						t.Errorf("%+v of %d asked: %v, but not after %+v", c, asked, got, further)
					}
				}
			}
		})
	}
}
