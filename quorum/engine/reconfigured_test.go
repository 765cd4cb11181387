package engine

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// A master is reconfigured while its connections are open, and idle.
func TestMasterThatBecomesUnfitUnderAnOpenConnectionStopsVoting(t *testing.T) {
	for name, c := range map[string]struct{ info, reason string }{
		"a replica":       {"role:slave\r\nmaster_host:elsewhere\r\n", "it is a replica of elsewhere"},
		"one that evicts": {"maxmemory:9\r\nmaxmemory_policy:volatile-lru\r\n", "its maxmemory-policy is volatile-lru"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
				before := w.noncesOf(1)
				tellingInfo(w.masters[0], c.info)
				time.Sleep(w.cfg.ProbeInterval + w.cfg.ProbeInterval/2)
				s := w.state(1)
				if s.State != quorum.Down || !strings.Contains(s.Reason, c.reason) || s.Elsewhere != nil {
					t.Errorf("it is %+v", s)
				}
				// Nothing was lost, so that it is as it was when it is cured.
				tellingInfo(w.masters[0], "")
				time.Sleep(w.cfg.ProbeInterval)
				w.wantState(1, quorum.Voting, "")
				if after := w.noncesOf(1); after != before {
					t.Errorf("nonces are %v, were %v", after, before)
				}
			})
		})
	}
}

func TestLoneMasterIsLookedAtUnderAnOpenConnection(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		tellingInfo(w.masters[0], "role:slave\r\n")
		time.Sleep(w.cfg.ProbeInterval + w.cfg.ProbeInterval/2)
		w.wantState(1, quorum.Down, "it is a replica")
	})
}

// What a master says of itself tells that it lost keys, whatever it is now.
func TestMasterThatLostKeysByItsOwnWordIsQuarantined(t *testing.T) {
	was := "master_replid:r0\r\nmaster_replid2:0000\r\n"
	for name, c := range map[string]struct {
		lose   func(*fakeMaster)
		reason string // "" if it lost none
	}{
		"keys were evicted":     {func(m *fakeMaster) { m.in(5, func() { m.evict("k") }) }, "it has evicted 1 keys"},
		"it was a replica":      {func(m *fakeMaster) { m.info = "master_replid:r1\r\nmaster_replid2:r7\r\n" }, "it has been a replica"},
		"its last replica went": {func(m *fakeMaster) { m.info = "master_replid:r1\r\nmaster_replid2:0000\r\n" }, ""},
		"its counts were reset": {func(m *fakeMaster) { m.evicted = 0 }, ""},
	} {
		for _, away := range []bool{false, true} {
			inWorld(t, 3, func(w *world) {
				m := w.masters[0]
				tellingInfo(m, was)
				m.set(func(m *fakeMaster) { m.evicted = 3 })
				m.mark(marker.Marker{Installation: "test", Member: m.name, Terms: w.cfg.Terms(), RunID: m.runID, Evicted: marker.NotTold})
				time.Sleep(2 * w.cfg.ProbeInterval) // to be seen so
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
				before := w.noncesOf(1)
				w.down(2) // so that it cannot catch up
				if away {
					w.stop(w.engine) // and nobody looks
					m.set(c.lose)
					w.engine = w.start(w.cfg)
				} else {
					m.set(c.lose)
				}
				time.Sleep(w.cfg.ProbeInterval + w.cfg.ProbeInterval/2)
				if c.reason == "" {
					w.wantState(1, quorum.Voting, "")
				} else {
					w.wantState(1, quorum.Quarantined, c.reason)
				}
				for db, n := range w.noncesOf(1) {
					if (n != before[db]) != (c.reason != "") {
						t.Errorf("%s: database %d: %s, before %s", name, db, n, before[db])
					}
				}
				if c.reason != "" {
					w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}), quorum.Unavailable)
				}
				w.up(2)
				time.Sleep(5 * w.cfg.ProbeInterval)
				w.wantState(1, quorum.Voting, "")
				if s := w.engine.Status(); c.reason != "" && s.Quarantined != 0 {
					t.Errorf("%s: %d quarantines last", name, s.Quarantined)
				}
			})
		}
	}
}

// Each database has a connection of its own, and none may vote that is back before the
// others have found out what became of the master meanwhile.
func TestNoDatabaseVotesBeforeAnotherHasFoundOutThatKeysWereEvicted(t *testing.T) {
	for range 20 {
		inWorld(t, 3, func(w *world) {
			m := w.masters[0]
			w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
			time.Sleep(2 * w.cfg.ProbeInterval) // it is written down how many were evicted
			before := w.noncesOf(1)[5]
			w.down(1)
			m.set(func(m *fakeMaster) { m.in(5, func() { m.evict("k") }) })
			m.rejoin()
			five := w.engine.use(5).lanes[0]
			for range 500 {
				if n, votes := five.asSource(); votes && n.Nonce == before {
					w.t.Fatal("it votes as before in database 5")
				}
				time.Sleep(ms)
			}
		})
	}
}

// closeDatabase0 ends the connections of database 0, which cannot be made again, as those for
// which the master has a new password. Those of other databases stay.
func (m *fakeMaster) closeDatabase0() {
	m.set(func(m *fakeMaster) {
		m.refuse = true
		for id, c := range m.conns {
			if m.selected[id] == 0 {
				c.Close()
				delete(m.conns, id)
			}
		}
	})
}

func TestMasterIsLookedAtWhileDatabase0CannotBe(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
		w.settle()
		for _, m := range w.masters[:2] {
			m.closeDatabase0()
		}
		time.Sleep(3 * w.cfg.ProbeInterval)
		for _, m := range w.masters[:2] {
			m.set(func(m *fakeMaster) { m.in(5, func() { m.evict("k") }) })
		}
		time.Sleep(3 * w.cfg.ProbeInterval)
		if r := w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
			t.Error("a second holder")
		}
	})
}

// Of the keys that a master has thrown away one is the marker of database 0, in
// which others vote, or none can be marked again.
func TestEvictionThatTakesAMarkerIsALossOfTheWholeMaster(t *testing.T) {
	for name, flushed := range map[string][]int{"others vote": nil, "no master is marked, as one is away": {1, 2, 3}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "a", TTL: time.Minute}), quorum.Won)
				time.Sleep(2 * w.cfg.ProbeInterval)
				w.down(1)
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: 5 * time.Minute}), quorum.Won) // on 2 and 3
				w.settle()
				w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { clear(m.keys) }) }, flushed...) // FLUSHDB by hand
				if flushed == nil {
					w.up(1)
				}
				time.Sleep(2 * w.cfg.ProbeInterval)
				before := w.noncesOf(2)[5]
				w.masters[1].set(func(m *fakeMaster) {
					m.evict(quorum.MarkerKey)
					m.in(5, func() { m.evict("k") })
				})
				time.Sleep(3 * w.cfg.ProbeInterval)
				if w.noncesOf(2)[5] == before {
					t.Error("its marker in database 5 is as before")
				}
				if flushed != nil {
					w.up(1)
				}
				w.down(3)
				if r := w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Second}); r.Decision == quorum.Won {
					t.Error("a second holder")
				}
			})
		})
	}
}
