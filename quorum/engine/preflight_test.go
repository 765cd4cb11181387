package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// tellingInfo has a master say this of itself, behind what it says anyway.
func tellingInfo(m *fakeMaster, lines string) {
	m.set(func(m *fakeMaster) { m.info = lines })
}

func TestProxyMustNotServeWithMastersThatAreUnfitWhenItStarts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		want   string // "" if it may serve
	}{
		"three masters":  {func(w *world) {}, ""},
		"one is away":    {func(w *world) { w.masters[1].cut() }, ""},
		"one is loading": {func(w *world) { tellingInfo(w.masters[1], "loading:1\r\n") }, ""},
		"one evicts": {func(w *world) { tellingInfo(w.masters[1], "maxmemory:9\r\nmaxmemory_policy:allkeys-random\r\n") },
			"master m2: its maxmemory-policy is allkeys-random"},
		"one is a cluster node": {func(w *world) { tellingInfo(w.masters[2], "cluster_enabled:1\r\n") }, "master m3: it is a cluster node"},
		"one is there twice":    {func(w *world) { w.cfg.Masters[2].Dial = w.masters[1].dial }, "it is the same server as m"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				c.change(w)
				err := w.start(w.cfg).Refusal()
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		})
	}
}

// What turns unfit while the proxy runs loses its vote, with the reason and the
// cure for all to see, and has it back when it is cured.
func TestMasterThatBecomesUnfitStopsVoting(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		tellingInfo(w.masters[0], "maxmemory:9\r\nmaxmemory_policy:volatile-lru\r\n")
		w.down(1)
		w.up(1)
		w.standsAs(1, quorum.Down, "its maxmemory-policy is volatile-lru, so that it throws locks away when 9 bytes are full: set")
		tellingInfo(w.masters[0], "")
		time.Sleep(w.cfg.ProbeInterval)
		w.standsAs(1, quorum.Voting, "")
	})
}

func TestReplicasOfAMasterAreWarnedOfOnce(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		if found := log.lines("replicas"); found != nil {
			t.Errorf("there are none: %q", found)
		}
		tellingInfo(w.masters[1], "connected_slaves:2\r\n")
		for range 3 {
			w.down(2)
			w.up(2)
			w.standsAs(2, quorum.Voting, "")
		}
		if found := log.lines("master has replicas"); len(found) != 1 || !strings.Contains(found[0], "master=m2 replicas=2") || !strings.Contains(found[0], "[WARN]") {
			t.Errorf("%q", found)
		}
	})
}
