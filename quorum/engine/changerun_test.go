package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// move is a change of the set, of fake masters counted from 1.
type move struct{ old, new []int }

var moves = map[string]move{
	"3 to 5":             {[]int{1, 2, 3}, []int{1, 2, 3, 4, 5}},
	"5 to 3":             {[]int{1, 2, 3, 4, 5}, []int{1, 2, 3}},
	"one replaced":       {[]int{1, 2, 3}, []int{1, 2, 4}},
	"two replaced":       {[]int{1, 2, 3}, []int{1, 4, 5}},
	"all replaced":       {[]int{1, 2, 3}, []int{4, 5, 6}},
	"one master to 3":    {[]int{1}, []int{1, 2, 3}},
	"the timeouts alone": {[]int{1, 2, 3}, []int{1, 2, 3}},
}

// changing is a world in which a set is changed.
type changing struct {
	*world
	old, new Config
	told     []string
}

func inChange(t *testing.T, m move, f func(c *changing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &changing{world: newWorld(t, 6)}
		c.cfg.MaxTTL = 10 * time.Second
		c.each(func(m *fakeMaster) { m.count = 1 }, 1, 2, 3, 4, 5, 6)
		c.old, c.new = c.of(m.old), c.of(m.new)
		c.new.AcquireTimeout += time.Millisecond
		for _, n := range m.old {
			if m := c.masters[n-1]; len(c.old.Masters) > 1 {
				m.mark(marker.Marker{Installation: "old", Member: m.name, Terms: c.old.Terms(), RunID: m.runID})
			}
		}
		f(c)
	})
}

// of is the configuration with these masters.
func (c *changing) of(numbers []int) Config {
	cfg := c.cfg
	cfg.Masters = nil
	for _, n := range numbers {
		cfg.Masters = append(cfg.Masters, c.masters[n-1].master())
	}
	return cfg
}

func (c *changing) change() error {
	return ChangeMasters(c.t.Context(), c.old.Masters, c.new, members.Changing{Tell: func(text string) { c.told = append(c.told, text) }})
}

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
	err := ChangeMasters(ctx, c.old.Masters, c.new, members.Changing{Tell: func(string) {}})
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

// serve asks an engine from now on.
func (c *changing) serve(cfg Config) *Engine {
	e := New(cfg, testLog())
	c.engine, c.engines = e, append(c.engines, e)
	<-e.Tried()
	synctest.Wait()
	return e
}

// grants is what a proxy of the configuration decides, which is started for it and
// stopped again.
func (c *changing) grants(cfg Config, key, token string) quorum.Decision {
	e := c.serve(cfg)
	d := c.acquire(key, token, 9*time.Second).Decision
	c.settle()
	c.stop(e)
	return d
}

func TestLocksOutliveAChangeOfTheSet(t *testing.T) {
	for name, m := range moves {
		t.Run(name, func(t *testing.T) {
			inChange(t, m, func(c *changing) {
				old := c.serve(c.old)
				// Held by the last quorum of the old set alone, and by the first.
				c.want(c.acquire("last", "a", 9*time.Second), quorum.Won)
				c.want(c.acquire("first", "a", 9*time.Second), quorum.Won)
				c.want(c.acquire("ever", "a", 0), quorum.Won)
				c.settle()
				q := quorum.QuorumOf(len(m.old))
				c.each(func(m *fakeMaster) { m.forget("last") }, m.old[:len(m.old)-q]...)
				c.each(func(m *fakeMaster) { m.forget("first"); m.forget("ever") }, m.old[q:]...)
				if len(m.old)%2 == 0 {
					t.Fatal("an even set")
				}
				if err := c.change(); err != nil {
					t.Fatalf("%v; told %q", err, c.told)
				}
				// A proxy of the old set that was not stopped grants nothing more.
				before := c.masters[0].value(quorum.MarkerKey)
				time.Sleep(2 * c.cfg.ProbeInterval)
				c.engine = old
				c.want(c.acquire("other", "b", time.Second), quorum.Unavailable)
				if after := c.masters[0].value(quorum.MarkerKey); after != before {
					t.Errorf("it overwrote a marker: %s", after)
				}
				c.stop(old)
				c.serve(c.new)
				for i, s := range c.engine.Status().Masters {
					if s.State != quorum.Voting {
						t.Errorf("master %d is %v: %s", m.new[i], s.State, s.Reason)
					}
				}
				for _, key := range []string{"last", "first", "ever"} {
					c.want(c.acquire(key, "b", time.Second), quorum.Contended)
					c.want(c.release(key, "a"), quorum.Won)
					c.want(c.acquire(key, "b", time.Second), quorum.Won)
				}
				if err := c.change(); err != nil || !strings.Contains(strings.Join(c.told, " "), "nothing left to do") {
					t.Errorf("again: %v; told %q", err, c.told)
				}
			})
		})
	}
}

func TestEvictionRightAfterAChangeOfTheSetIsNoticed(t *testing.T) {
	inChange(t, moves["two replaced"], func(c *changing) {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		m := c.masters[0]
		before := m.value(quorum.MarkerKey)
		m.set(func(m *fakeMaster) { m.evicted++ })
		c.serve(c.new)
		if now := m.value(quorum.MarkerKey); marker.NonceOf(now) == marker.NonceOf(before) {
			t.Errorf("its marker is as before: %s", now)
		}
	})
}

// A change is cut off after any of its writes. Then neither the old set nor the new
// one gives a lock a second time, nor do both give one; and the same order again
// ends what was begun.
func TestChangeOfTheSetThatIsCutOffCanBeOrderedAgain(t *testing.T) {
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

func TestChangeOfTheSetIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		m    move
		harm func(c *changing)
		want string
	}{
		"too few remember": {moves["all replaced"], func(c *changing) { c.masters[0].restartBlank(); c.masters[1].cut() },
			"database 0: 1 masters of the old set remember what they granted, 2 are needed; these may have lost locks: m1; these are not there: m2; bring them back"},
		"a new one is not there": {moves["3 to 5"], func(c *changing) { c.masters[4].cut() }, "master m5: it cannot be reached"},
		"a new one is unfit":     {moves["3 to 5"], func(c *changing) { tellingInfo(c.masters[4], "cluster_enabled:1\r\n") }, "master m5: it cannot be used: it is a cluster node"},
		"one is there twice":     {moves["3 to 5"], func(c *changing) { c.new.Masters[4].Dial = c.masters[3].dial }, "master m5: it is the same server as m4"},
		"a new one is another's": {moves["3 to 5"], func(c *changing) {
			third := c.of([]int{5, 6})
			c.masters[4].put(quorum.MarkerKey, marker.Marker{Nonce: marker.NewNonce(false), Installation: "x", Member: "m5", Terms: third.Terms()}.String(), 0)
		}, "master m5: its marker is of installation x"},
		"fewer databases":   {moves["3 to 5"], func(c *changing) { c.masters[4].count = 4 }, "master m5: it has 4 databases, and m1 has 1:"},
		"a shorter max-ttl": {moves["3 to 5"], func(c *changing) { c.new.MaxTTL = time.Second }, "the old set's max-ttl is 10000 ms"},
		"to one master":     {move{[]int{1, 2, 3}, []int{1}}, func(*changing) {}, "a set of one master"},
	} {
		t.Run(name, func(t *testing.T) {
			inChange(t, c.m, func(w *changing) {
				c.harm(w)
				var before []string
				for _, m := range w.masters {
					before = append(before, m.value(quorum.MarkerKey))
				}
				if err := w.change(); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				for i, m := range w.masters {
					if m.value(quorum.MarkerKey) != before[i] {
						t.Errorf("%s was marked %s", m.name, m.value(quorum.MarkerKey))
					}
				}
			})
		})
	}
}

// In a database that no proxy has looked at since, a quorum of the old set has forgotten, one
// after the other. Nobody could tell what was granted there: it is waited out.
func TestChangeOfTheSetWaitsOutWhatNobodyRemembers(t *testing.T) {
	for _, forgotten := range []int{0, 1} {
		inChange(t, moves["one replaced"], func(c *changing) {
			c.each(func(m *fakeMaster) { m.count = 2 }, 1, 2, 3, 4)
			c.each(func(m *fakeMaster) {
				m.mark(marker.Marker{Installation: "old", Member: m.name, Terms: c.old.Terms(), RunID: m.runID})
			}, 1, 2, 3)
			if d := c.grants(c.old, "k", "a"); d != quorum.Won {
				t.Fatal(d)
			}
			c.each(func(m *fakeMaster) { m.put("long", "a", time.Hour) }, 1, 2, 3)
			c.each(func(m *fakeMaster) { m.locked(func() { m.in(forgotten, func() { clear(m.keys) }) }) }, 1, 2)
			began := time.Now()
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < clock.Pad(c.old.MaxTTL) {
				t.Errorf("it took %v", took)
			}
			if told := strings.Join(c.told, "\n"); !strings.Contains(told, fmt.Sprintf("database %d: 1 masters of the old set remember what they granted, 2 are needed; these may have lost locks: m1 m2; once the old set is closed, what it may have granted there is waited out for 10s", forgotten)) {
				t.Error(told)
			}
			if d := c.grants(c.new, "long", "b"); d != quorum.Contended {
				t.Errorf("what one still holds, or all do, is %v", d)
			}
			if d := c.grants(c.new, "k", "b"); d != quorum.Won {
				t.Errorf("what has ended is %v", d)
			}
		})
	}
}

// A minority of the old set may be lost or away: what it held is on the others.
func TestChangeOfTheSetDoesWithoutAMinorityOfTheOldOne(t *testing.T) {
	for name, harm := range map[string]func(*fakeMaster){"lost": (*fakeMaster).restartBlank, "away": (*fakeMaster).cut} {
		inChange(t, moves["one replaced"], func(c *changing) {
			if d := c.grants(c.old, "k", "a"); d != quorum.Won {
				t.Fatal(d)
			}
			harm(c.masters[2])
			if err := c.change(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			c.masters[2].mend()
			if d := c.grants(c.old, "other", "b"); d != quorum.Unavailable {
				t.Errorf("%s: the old set is %v", name, d)
			}
			if d := c.grants(c.new, "k", "b"); d != quorum.Contended {
				t.Errorf("%s: %v", name, d)
			}
			c.settle()
			for _, n := range []int{1, 2, 4} {
				if v := c.masters[n-1].value("k"); v != "a" {
					t.Errorf("%s: m%d holds %q", name, n, v)
				}
			}
		})
	}
}

// What is left of another lock on one of the old masters is waited for: whose lock
// it is cannot be told while they disagree.
func TestChangeOfTheSetWaitsUntilTheOldMastersAgree(t *testing.T) {
	inChange(t, moves["one replaced"], func(c *changing) {
		c.masters[0].put("k", "leftover", 4*time.Second)
		c.masters[1].put("k", "a", 9*time.Second)
		c.masters[2].put("k", "a", 9*time.Second)
		began := time.Now()
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 6*time.Second {
			t.Errorf("it took %v", took)
		}
		for _, n := range []int{1, 2, 4} {
			if v := c.masters[n-1].value("k"); v != "a" {
				t.Errorf("m%d holds %q", n, v)
			}
		}
	})
}

// A lock without end that is disputed for ever does not keep the set from changing
// for ever, and is told of.
func TestChangeOfTheSetEndsWhenLocksWithinMaxTTLHaveEnded(t *testing.T) {
	inChange(t, moves["one replaced"], func(c *changing) {
		c.masters[0].put("k", "x", 0)
		c.masters[1].put("k", "y", 0)
		began := time.Now()
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < c.cfg.MaxTTL || took > 2*c.cfg.MaxTTL {
			t.Errorf("it took %v", took)
		}
		if text := strings.Join(c.told, "\n"); !strings.Contains(text, catchup.ErrDisputed.Error()) || !strings.Contains(text, "outlive max-ttl") {
			t.Errorf("told: %s", text)
		}
	})
}

// Two operators give one order at once, with the names in another order, after one that
// was cut off, or not: they end in one new set.
func TestTwoOperatorsChangeTheSetAtOnce(t *testing.T) {
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
				old := slices.Clone(c.old.Masters)
				slices.Reverse(old)
				for i, m := range c.masters {
					m.set(func(m *fakeMaster) { m.lag = time.Duration((seed*7+i*5)%11) * ms })
				}
				errs := make(chan error, 2)
				go func() {
					errs <- ChangeMasters(c.t.Context(), c.old.Masters, c.new, members.Changing{Tell: func(string) {}})
				}()
				go func() { errs <- ChangeMasters(c.t.Context(), old, other, members.Changing{Tell: func(string) {}}) }()
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
				m.after = func(args []string, m *fakeMaster) {
					if args[0] == "EVAL" && args[1] == master.MarkScript.Text && !flushed {
						flushed = true
						m.flushAll()
					}
				}
			})
		}
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				errs <- ChangeMasters(c.t.Context(), c.old.Masters, c.new, members.Changing{Tell: func(string) {}})
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
						errs[i] = ChangeMasters(c.t.Context(), c.old.Masters, cfg, members.Changing{Tell: func(string) {}})
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

func TestChangeOfTheSetIsRefusedWhileProxiesAreThere(t *testing.T) {
	inChange(t, moves["one replaced"], func(c *changing) {
		c.old.Client = master.ClientName("ho st", 7)
		proxy := c.serve(c.old)
		if err := c.change(); err == nil || !strings.Contains(err.Error(), "old set's masters: redlock-proxy:ho_st:7; stop them, or") {
			t.Fatalf("it is told %v", err)
		}
		c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
		if err := ChangeMasters(c.t.Context(), c.old.Masters, c.new, members.Changing{EvenSo: true, Tell: func(string) {}}); err != nil {
			t.Fatal(err)
		}
		c.want(c.acquire("k2", "a", time.Second), quorum.Unavailable)
		c.stop(proxy)
		if d := c.grants(c.new, "k", "b"); d != quorum.Contended {
			t.Error(d)
		}
	})
	inChange(t, moves["one replaced"], func(c *changing) { // a master that does not tell
		c.masters[0].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if len(args) > 1 && args[1] == "LIST" {
					return "-NOPERM no\r\n"
				}
				return ""
			}
		})
		if err := c.change(); err != nil || !strings.Contains(strings.Join(c.told, "\n"), "m1 does not tell whether proxies are connected to it: NOPERM") {
			t.Errorf("%v, told %q", err, c.told)
		}
	})
}

// What one master of the old set has missed the release of is no lock of the new one's,
// unless the others that could tell are away.
func TestChangeOfTheSetGivesNobodyWhatIsLeftOfALockWithoutTTL(t *testing.T) {
	for _, told := range []bool{true, false} {
		inChange(t, moves["3 to 5"], func(c *changing) {
			e := c.serve(c.old)
			c.want(c.acquire("k", "a", 0), quorum.Won)
			c.want(c.acquire("held", "a", 0), quorum.Won)
			c.settle()
			c.heldBy("held", "a", 1, 2)
			c.down(1)
			c.want(c.release("k", "a"), quorum.Won)
			c.settle()
			c.stop(e)
			c.masters[0].mend()
			if !told {
				c.masters[2].cut()
			}
			c.new.AcquireTimeout = c.cfg.AcquireTimeout
			if !told {
				c.new = c.of([]int{1, 2, 4, 5, 6})
			}
			if err := c.change(); err != nil {
				t.Fatal(err)
			}
			c.serve(c.new)
			c.want(c.acquire("held", "b", time.Second), quorum.Contended)
			want := quorum.Won
			if !told {
				want = quorum.Contended
			}
			c.want(c.acquire("k", "b", time.Second), want)
		})
	}
}
