package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/members"
)

// again gives the same order once more, and tells what it said.
func (c *changing) again(even bool) (told string, err error) {
	c.told = nil
	err = changeMasters(c.t.Context(), c.old, c.new, members.Changing{EvenSo: even, Tell: func(text string) { c.told = append(c.told, text) }})
	return strings.Join(c.told, "\n"), err
}

// heldBy has a lock be held by those masters alone.
func (c *changing) heldBy(key, token string, numbers ...int) {
	for i, m := range c.masters {
		held := false
		for _, n := range numbers {
			held = held || n == i+1
		}
		if held {
			if m.value(key) != token {
				c.t.Fatalf("m%d does not hold %s", i+1, key)
			}
		} else {
			m.forget(key)
		}
	}
}

// forgettingAfterAChange is who loses which memory of the lock that was granted since.
var forgettingAfterAChange = map[string]struct {
	m     move
	lost  []int
	holds []int // the others that hold the lock, with the lost ones a quorum
	lose  func(m *fakeMaster, begun fakeData)
	even  bool
}{
	"blank":            {moves["all replaced"], []int{6}, []int{5}, func(m *fakeMaster, _ fakeData) { m.restartBlank() }, false},
	"a quorum, blank":  {moves["all replaced"], []int{5, 6}, []int{4}, func(m *fakeMaster, _ fakeData) { m.restartBlank() }, false},
	"a dump from then": {moves["all replaced"], []int{5, 6}, []int{4}, func(m *fakeMaster, begun fakeData) { m.restartWith(begun) }, false},
	"all, from then":   {moves["all replaced"], []int{4, 5, 6}, nil, func(m *fakeMaster, begun fakeData) { m.restartWith(begun) }, false},
	"was alone":        {moves["one master to 3"], []int{1}, []int{2}, func(m *fakeMaster, _ fakeData) { m.restartBlank() }, true},
	"was of the old":   {moves["one replaced"], []int{1}, []int{4}, func(m *fakeMaster, _ fakeData) { m.restartBlank() }, true},
}

// A set was changed, its proxies serve, and a master of it loses its memory. What the old
// set's masters hold, or did by the time that they were left, says nothing of what it has
// granted since.
func TestChangeThatIsOrderedAgainAdmitsNobodyWhoMayHaveVoted(t *testing.T) {
	for name, x := range forgettingAfterAChange {
		for _, noticed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				inChange(t, x.m, func(c *changing) {
					begun := make([]fakeData, len(c.masters))
					for i, m := range c.masters { // a dump is written when the keys are given
						m.set(func(m *fakeMaster) {
							m.after = func(args []string, m *fakeMaster) {
								if begun[i][0] == nil && strings.Contains(m.keys[quorum.MarkerKey].value, `"changing":true`) {
									begun[i] = m.copyLocked()
								}
							}
						})
					}
					if err := c.change(); err != nil {
						c.t.Fatal(err)
					}
					for _, m := range c.masters {
						m.set(func(m *fakeMaster) { m.after = nil })
					}
					c.serve(c.new)
					c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
					c.settle()
					c.heldBy("k", "a", append(x.holds, x.lost...)...)
					if !noticed {
						c.stop(c.engine)
					}
					for _, n := range x.lost {
						x.lose(c.masters[n-1], begun[n-1])
					}
					if noticed {
						time.Sleep(20 * ms) // and before it has caught up
					}
					told, err := c.again(x.even)
					if !noticed {
						c.serve(c.new)
					}
					for range 20 {
						if r := c.acquire("k", "b", time.Second); r.Decision == quorum.Won {
							c.t.Fatalf("a second holder; the order said %q, %v", told, err)
						}
						time.Sleep(100 * ms)
					}
					time.Sleep(20 * time.Second)
					c.want(c.acquire("k", "b", time.Second), quorum.Won)
				})
			})
		}
	}
}

// A master comes back with a dump from before its set was changed, or from the middle of
// that. It counts as one that has lost its memory, as any does that comes back with an old
// dump, and its fellows go on: those that serve, and those that are started.
func TestDumpFromBeforeAChangeOfTheSetCostsOneVote(t *testing.T) {
	for name, m := range moves {
		for _, when := range []string{"before", "in the middle"} {
			if m.new[0] != 1 || len(m.old) == 1 {
				continue
			}
			t.Run(name+", "+when, func(t *testing.T) {
				inChange(t, m, func(c *changing) {
					first := c.masters[0]
					dump := first.copy()
					if when != "before" {
						first.set(func(m *fakeMaster) {
							m.after = func(args []string, m *fakeMaster) {
								if strings.Contains(m.keys[quorum.MarkerKey].value, `"changing":true`) {
									dump = m.copyLocked()
								}
							}
						})
					}
					if err := c.change(); err != nil {
						c.t.Fatal(err)
					}
					first.set(func(m *fakeMaster) { m.after = nil })
					served := c.serve(c.new)
					c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
					first.restartWith(dump)
					time.Sleep(3 * time.Second)
					if r := c.acquire("k2", "a", time.Second); r.Decision != quorum.Won {
						c.t.Errorf("with the others: %v, %s", r.Decision, r.Why)
					}
					started := c.serve(c.new)
					if err := started.Refusal(); err != nil {
						c.t.Errorf("a proxy that is started refuses: %v", err)
					}
					if r := c.acquire("k3", "a", time.Second); r.Decision != quorum.Won {
						c.t.Errorf("through another proxy: %v, %s", r.Decision, r.Why)
					}
					for _, e := range []*Engine{served, started} {
						if _, voting := allVote(e); !voting {
							c.t.Errorf("it never votes again: %+v", e.Status().Masters[0])
						}
					}
				})
			})
		}
	}
}

// A quorum of the old set loses its memory while it is changed. No lock of before is left
// when max-ttl has passed.
func TestChangeOfTheSetGoesOnAfterALossOfTheOldSetWhenNoLockFromBeforeCanLive(t *testing.T) {
	inChange(t, moves["all replaced"], func(c *changing) {
		ctx, stop := context.WithCancel(c.t.Context())
		c.whenever(4, scans, func(*fakeMaster, []string) {})
		c.masters[3].set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if runs(args, catchup.LeaseScript) {
					stop()
				}
			}
		})
		err := changeMasters(ctx, c.old, c.new, members.Changing{Tell: func(string) {}})
		if !errors.Is(err, context.Canceled) {
			c.t.Fatal(err)
		}
		c.masters[3].set(func(m *fakeMaster) { m.after = nil })
		c.each((*fakeMaster).restartBlank, 1, 2)
		for began := time.Now(); time.Since(began) < 3*c.cfg.MaxTTL; time.Sleep(time.Second) {
			if err = c.change(); err == nil {
				return
			}
		}
		old := c.serve(c.old)
		time.Sleep(3 * c.cfg.MaxTTL)
		synctest.Wait()
		c.t.Errorf("the order is never carried out: %v\nand the old set: %+v", err, old.Status().Masters[0])
	})
}
