package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// cutOff has a change end after so many writes of a marker, and tells whether there
// were so many.
func (c *changing) cutOff(after int) (was bool) {
	c.t.Helper()
	ctx, stop := context.WithCancel(c.t.Context())
	defer stop()
	writes := 0
	for _, m := range c.masters {
		m.set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if args[0] != "EVAL" || args[1] != master.MarkScript.Text {
					return
				}
				if writes++; writes == after {
					was = true
					stop()
					for _, conn := range m.conns {
						conn.Close()
					}
					clear(m.conns)
				}
			}
		})
	}
	err := changeMasters(ctx, c.old, c.new, members.Changing{Tell: func(string) {}})
	for _, m := range c.masters {
		m.set(func(m *fakeMaster) { m.after = nil })
	}
	if (err == nil) == was {
		c.t.Fatalf("cut off %t: %v", was, err)
	}
	closed := slices.ContainsFunc(c.old.Masters, func(m master.Master) bool {
		i := slices.IndexFunc(c.masters, func(f *fakeMaster) bool { return f.name == m.Name })
		return strings.Contains(c.masters[i].value(quorum.MarkerKey), `"from":`)
	})
	if was && errors.Is(err, members.ErrHalfChanged) != closed {
		c.t.Fatalf("a master of the old set is marked for the new one %t, and it says %v", closed, err)
	}
	return was
}

// A change is cut off after any of its writes. Then neither the old set nor the new
// one gives a lock a second time, nor do both give one; and the same order again
// ends what was begun.
func TestChangeOfTheSetThatIsCutOffCanBeOrderedAgain(t *testing.T) {
	notInstrumented(t)
	for name, m := range moves {
		for cut := 1; ; cut++ {
			wasCut := false
			t.Run(fmt.Sprintf("%s after write %d", name, cut), func(t *testing.T) {
				inChange(t, m, func(c *changing) {
					began := time.Now()
					if d := c.grants(c.old, "k", "a"); d != quorum.Won {
						t.Fatal(d)
					}
					wasCut = c.cutOff(cut)
					granted := 0
					for i, cfg := range []Config{c.old, c.new} {
						if d := c.grants(cfg, "k", fmt.Sprint("b", i)); d == quorum.Won {
							t.Errorf("set %d gives the lock a second time", i)
						}
						if d := c.grants(cfg, "fresh", fmt.Sprint("c", i)); d == quorum.Won {
							granted++
						}
					}
					if granted > 1 {
						t.Error("both sets gave one lock")
					}
					if err := c.change(); err != nil {
						t.Fatalf("again: %v; told %q", err, c.told)
					}
					if d := c.grants(c.new, "k", "d"); d != quorum.Contended {
						t.Errorf("after all, by then %v: %v; told %q", time.Since(began), d, c.told)
					}
					if d := c.grants(c.old, "new", "d"); d == quorum.Won {
						t.Errorf("the old set: %v", d)
					}
				})
			})
			if !wasCut || t.Failed() {
				break
			}
		}
	}
}

// Proxies of both sets are started after a change was cut off, and not stopped: at no
// time do both sets grant locks.
func TestChangeOfTheSetThatIsCutOffLeavesOneSetAtMost(t *testing.T) {
	for name, m := range moves {
		if len(m.old) == 1 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for cut := 1; cutOffOnce(t, m, cut) && !t.Failed(); cut++ {
			}
		})
	}
}

// cutOffOnce has the change cut off at a write; false: it has no more writes than that.
func cutOffOnce(t *testing.T, m move, cut int) (wasCut bool) {
	t.Run(fmt.Sprintf("after write %d", cut), func(t *testing.T) {
		inChange(t, m, func(c *changing) {
			wasCut = c.cutOff(cut)
			old, new := c.serve(c.old), c.serve(c.new)
			unfinished := false
			c.each(func(m *fakeMaster) {
				unfinished = unfinished || strings.Contains(m.value(quorum.MarkerKey), `"changing":true`)
			}, m.new...)
			if (new.Refusal() != nil) != unfinished {
				t.Errorf("a proxy of the new set is told %v", new.Refusal())
			}
			for i := range 3 {
				granted := 0
				for _, c.engine = range []*Engine{old, new} {
					if c.acquire(fmt.Sprint(i), fmt.Sprint(granted), time.Second).Decision == quorum.Won {
						granted++
					}
				}
				if granted > 1 {
					t.Error("both sets gave one lock")
				}
				time.Sleep(c.cfg.MaxTTL)
			}
		})
	})
	return wasCut
}
