package engine

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// What a master writes no log of any more, though it did, is not known to a change either.
func TestChangeOfTheSetBelievesNoLogThatWasSwitchedOff(t *testing.T) {
	inChange(t, moves["one replaced"], func(c *changing) {
		for _, n := range []int{1, 2, 3} {
			c.masters[n-1].set(func(m *fakeMaster) { m.settings = durableSettings })
		}
		c.serve(c.old)
		time.Sleep(3 * c.cfg.ProbeInterval)
		c.masters[0].configure(nil)
		time.Sleep(5 * c.cfg.ProbeInterval) // the others are told
		c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
		c.settle()
		c.heldBy("k", "a", 1, 3)
		c.stop(c.engine)
		c.masters[0].restartFromLog()
		c.masters[2].cut()
		err := c.change()
		if err == nil {
			if d := c.grants(c.new, "k", "b"); d == quorum.Won {
				c.t.Fatalf("a second holder; told %q", c.told)
			}
			c.t.Fatalf("it is believed; told %q", c.told)
		}
		if !strings.Contains(err.Error(), "1 masters of the old set remember what they granted, 2 are needed") {
			c.t.Error(err)
		}
		c.masters[2].rejoin()
		if err := c.change(); err != nil {
			c.t.Fatal(err)
		}
		if d := c.grants(c.new, "k", "b"); d != quorum.Contended {
			c.t.Error(d)
		}
	})
}

// What a master of the old set has lost by its own word is lost for a change as it is for
// proxies, also where none was there to see it.
func TestChangeOfTheSetBelievesNoMasterThatHasLostKeysByItsOwnWord(t *testing.T) {
	for name, lose := range map[string]func(m *fakeMaster){
		"keys were evicted":      func(m *fakeMaster) { m.evict("k") },
		"it was a replica":       func(m *fakeMaster) { m.info = "master_replid:r1\r\nmaster_replid2:r7\r\n"; delete(m.keys, "k") },
		"databases were swapped": func(m *fakeMaster) { m.swap(0, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			inChange(t, moves["one replaced"], func(c *changing) {
				first := c.masters[0]
				for _, m := range c.masters {
					m.set(func(m *fakeMaster) { m.count = 2 })
				}
				tellingInfo(first, "master_replid:r0\r\nmaster_replid2:0000\r\n")
				for _, n := range []int{1, 2, 3} {
					m := c.masters[n-1]
					m.mark(marker.Marker{Installation: "old", Member: m.name, Terms: c.old.Terms(), RunID: m.runID, Evicted: 0, Replication: "r0"})
				}
				c.serve(c.old)
				time.Sleep(3 * c.cfg.ProbeInterval)
				c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
				c.settle()
				c.heldBy("k", "a", 1, 3)
				c.stop(c.engine)
				first.set(lose)
				c.masters[2].cut()
				if err := c.change(); err == nil || !strings.Contains(err.Error(), "1 masters of the old set remember what they granted, 2 are needed") {
					if d := c.grants(c.new, "k", "b"); d == quorum.Won {
						c.t.Fatalf("a second holder; told %q", c.told)
					}
					c.t.Fatalf("%v; told %q", err, c.told)
				}
			})
		})
	}
}

// Its configuration file says appendonly, and what it says is of before the change.
func TestLogFromBeforeAChangeOfTheSetCostsOneVote(t *testing.T) {
	inChange(t, moves["one replaced"], func(c *changing) {
		for _, m := range c.masters[:3] {
			m.set(func(m *fakeMaster) { m.settings = durableSettings })
		}
		c.serve(c.old)
		time.Sleep(5 * c.cfg.ProbeInterval)
		c.masters[0].configure(nil)
		time.Sleep(5 * c.cfg.ProbeInterval)
		c.stop(c.engine)
		if err := c.change(); err != nil {
			c.t.Fatal(err)
		}
		c.serve(c.new)
		c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
		c.masters[0].restartFromLog()
		time.Sleep(5 * c.cfg.ProbeInterval)
		c.want(c.acquire("l", "a", time.Second), quorum.Won)
		c.want(c.acquire("k", "b", time.Second), quorum.Contended)
	})
}

// A master is durable when it is marked for the new set, and not any more when that is
// finished.
func TestLogThatWasSwitchedOffInAChangeOfTheSetExcusesNobody(t *testing.T) {
	inChange(t, moves["all replaced"], func(c *changing) {
		for _, m := range c.masters[3:6] {
			m.set(func(m *fakeMaster) { m.settings = durableSettings })
		}
		six := c.masters[5]
		six.set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if m.written == nil && strings.Contains(m.keys[quorum.MarkerKey].value, `"changing":true`) {
					log := m.copyLocked()
					m.written, m.settings = &log, nil
				}
			}
		})
		if err := c.change(); err != nil {
			c.t.Fatal(err)
		}
		six.set(func(m *fakeMaster) { m.after = nil })
		if six.written == nil {
			c.t.Fatal("its log was never switched off")
		}
		c.serve(c.new)
		time.Sleep(5 * c.cfg.ProbeInterval)
		c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
		c.settle()
		c.heldBy("k", "a", 5, 6)
		c.stop(c.engine)
		six.restartFromLog()
		told, err := c.again(false)
		c.serve(c.new)
		for range 10 {
			if r := c.acquire("k", "b", time.Second); r.Decision == quorum.Won {
				c.t.Fatalf("a second holder; the order said %q, %v", told, err)
			}
			time.Sleep(100 * ms)
		}
	})
}

// The disk of a master was restored, its marker deleted in database 0, and a proxy let it vote
// there, and ended before it came to others.
func TestChangeOfTheSetBelievesNoRestoredDisk(t *testing.T) {
	for delay := 14; delay < 26; delay++ {
		inChange(t, moves["one replaced"], func(c *changing) {
			c.old.MaxTTL, c.new.MaxTTL = 5*time.Minute, 5*time.Minute
			for _, m := range c.masters {
				m.set(func(m *fakeMaster) { m.count, m.settings = 2, durableSettings })
			}
			for _, n := range []int{1, 2, 3} {
				m := c.masters[n-1]
				m.mark(marker.Marker{Installation: "old", Member: m.name, Terms: c.old.Terms(), RunID: m.runID, Durable: true})
			}
			c.serve(c.old)
			m := c.masters[0]
			c.want(c.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "before", Token: "a", TTL: time.Second}), quorum.Won)
			time.Sleep(5 * c.cfg.ProbeInterval)
			old := m.copy()
			c.down(2)
			c.want(c.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: 4 * time.Minute}), quorum.Won)
			c.settle()
			c.up(2)
			time.Sleep(3 * c.cfg.ProbeInterval)
			c.stop(c.engine)
			m.cut()
			m.restartWith(old)
			m.set(func(m *fakeMaster) {
				m.in(0, func() { delete(m.keys, quorum.MarkerKey) })
				m.settings = durableSettings
			})
			m.rejoin()
			e0 := New(c.old, testLog())
			c.engines = append(c.engines, e0)
			time.Sleep(time.Duration(delay) * 20 * ms)
			c.stop(e0)
			c.masters[2].cut()
			if c.change() != nil {
				return
			}
			c.serve(c.new)
			time.Sleep(2 * time.Second)
			if r := c.asked(1, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
				t.Errorf("a second holder in database 1; told %q", c.told)
			}
		})
	}
}

func TestChangeOfTheSetBelievesNoNewProcessThatHasLostKeysByItsOwnWord(t *testing.T) {
	for name, lose := range map[string]func(m *fakeMaster){
		"evicted": func(m *fakeMaster) { m.evict("k") },
		"replica": func(m *fakeMaster) { m.info = "master_replid:r1\r\nmaster_replid2:r7\r\n"; delete(m.keys, "k") },
	} {
		t.Run(name, func(t *testing.T) {
			inChange(t, moves["one replaced"], func(c *changing) {
				first := c.masters[0]
				for _, n := range []int{1, 2, 3} {
					c.masters[n-1].set(func(m *fakeMaster) { m.settings = durableSettings })
				}
				c.serve(c.old)
				time.Sleep(3 * c.cfg.ProbeInterval)
				c.want(c.acquire("k", "a", 9*time.Second), quorum.Won)
				c.settle()
				c.heldBy("k", "a", 1, 3)
				c.stop(c.engine)
				first.restartFromLog()
				first.set(lose)
				if c.change() != nil {
					return
				}
				c.masters[2].cut()
				if d := c.grants(c.new, "k", "b"); d == quorum.Won {
					c.t.Fatalf("a second holder; told %q", c.told)
				}
			})
		})
	}
}
