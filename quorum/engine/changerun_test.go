package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
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
	return changeMasters(c.t.Context(), c.old, c.new, members.Changing{Tell: func(text string) { c.told = append(c.told, text) }})
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
			c.masters[2].rejoin()
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

func TestChangeOfTheSetIsRefusedWhileProxiesAreThere(t *testing.T) {
	inChange(t, moves["one replaced"], func(c *changing) {
		c.old.Client = master.ClientName("ho st", 7)
		proxy := c.serve(c.old)
		if err := c.change(); err == nil || !strings.Contains(err.Error(), "old set's masters: redlock-proxy:ho_st:7; stop them, or") {
			t.Fatalf("it is told %v", err)
		}
		c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
		if err := changeMasters(c.t.Context(), c.old, c.new, members.Changing{EvenSo: true, Tell: func(string) {}}); err != nil {
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
