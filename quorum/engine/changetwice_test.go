package engine

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// Two operators give one order at once, with the names in another order, after one that
// was cut off, or not: they end in one new set.
func TestTwoOperatorsChangeTheSetAtOnce(t *testing.T) {
	notInstrumented(t)
	for name, m := range moves {
		for seed := range 12 {
			inChange(t, m, func(c *changing) {
				if len(m.old) > 1 {
					if d := c.grants(c.old, "k", "a"); d != quorum.Won {
						t.Fatal(d)
					}
					c.cutOff(1 + seed)
				}
				other := c.new
				other.Masters = slices.Clone(other.Masters)
				slices.Reverse(other.Masters)
				old := c.old
				old.Masters = slices.Clone(old.Masters)
				slices.Reverse(old.Masters)
				for i, m := range c.masters {
					m.set(func(m *fakeMaster) { m.lag = time.Duration((seed*7+i*5)%11) * ms })
				}
				errs := make(chan error, 2)
				go func() {
					errs <- changeMasters(c.t.Context(), c.old, c.new, members.Changing{Tell: func(string) {}})
				}()
				go func() { errs <- changeMasters(c.t.Context(), old, other, members.Changing{Tell: func(string) {}}) }()
				for range 2 {
					if err := <-errs; err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				c.sameInstallation(m.new...)
				want := quorum.Contended
				if len(m.old) == 1 {
					want = quorum.Won
				}
				if d := c.grants(c.new, "k", "b"); d != want {
					t.Errorf("%s: the lock is %v", name, d)
				}
			})
		}
	}
}

// Two operators give one order at once, and the master that is marked first is flushed
// between the two: neither finds there what the other makes of it.
//
//	1: both read that 4 5 6 bear no marker
//	2: one marks 4; it is flushed, and the other marks it
//	3: the first marks 5
func TestTwoOperatorsMakeOneSetThoughTheFirstMasterForgotBetweenThem(t *testing.T) {
	inChange(t, moves["all replaced"], func(c *changing) {
		if d := c.grants(c.old, "k", "a"); d != quorum.Won {
			t.Fatal(d)
		}
		flushed := false
		for _, m := range c.masters[3:] {
			m.set(func(m *fakeMaster) {
				m.lag = 10 * ms
				m.after = func(args []string, m *fakeMaster) {
					if args[0] == "EVAL" && args[1] == master.MarkScript.Text && !flushed {
						flushed = true
						m.flushAll()
					}
				}
			})
		}
		errs := make(chan error, 2)
		for i := range 2 {
			go func() {
				time.Sleep(time.Duration(i) * ms) // the other is a step behind, and so reads before either marks
				errs <- changeMasters(c.t.Context(), c.old, c.new, members.Changing{Tell: func(string) {}})
			}()
		}
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if d := c.grants(c.new, "k", "b"); d != quorum.Contended || !flushed {
			t.Errorf("flushed %t; the lock is %v", flushed, d)
		}
	})
}

// Whoever marks the first of the old set makes his; the other has closed none of it.
func TestOfTwoSetsThatAreMadeOfOneAtOnceOneIsFinished(t *testing.T) {
	for name, sets := range map[string][3][]int{
		"a machine each":        {{1, 2, 3}, {2, 3, 4}, {1, 3, 5}},
		"by the same new one":   {{1, 2, 3}, {4, 2, 3}, {3, 1, 4}},
		"two each, by the same": {{1, 2, 3}, {2, 4, 5}, {5, 1, 4}},
		"of five":               {{1, 2, 3, 4, 5}, {3, 4, 5, 6}, {2, 1}},
	} {
		for seed := range 12 {
			inChange(t, move{sets[0], sets[1]}, func(c *changing) {
				if d := c.grants(c.old, "k", "a"); d != quorum.Won {
					t.Fatal(d)
				}
				other := c.of(sets[2])
				for i, m := range c.masters {
					m.set(func(m *fakeMaster) { m.lag = time.Duration((seed*7+i*5)%11) * ms })
				}
				var errs [2]error
				var wait sync.WaitGroup
				for i, cfg := range []Config{c.new, other} {
					wait.Go(func() {
						errs[i] = changeMasters(c.t.Context(), c.old, cfg, members.Changing{Tell: func(string) {}})
					})
				}
				wait.Wait()
				made, not := c.new, errs[1]
				if errs[0] != nil {
					made, not = other, errs[0]
				}
				if (errs[0] == nil) == (errs[1] == nil) || !strings.Contains(not.Error(), "neither the old set nor the new one") {
					t.Fatalf("%s: %v; %v", name, errs[0], errs[1])
				}
				if d := c.grants(made, "k", "b"); d != quorum.Contended {
					t.Errorf("%s: the lock is %v", name, d)
				}
				if d := c.grants(made, "k2", "b"); d != quorum.Won {
					t.Errorf("%s: another is %v", name, d)
				}
			})
		}
	}
}
