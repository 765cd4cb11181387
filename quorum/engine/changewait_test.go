package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

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
			c.masters[0].rejoin()
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
