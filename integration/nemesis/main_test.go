package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/integration/clock"
	"redlock-proxy/integration/nemesis/lease"
)

// TestMain lets a round start this test as its processes of clients.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == clientCommand {
		exit(clients(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testMaster is a real redis-server as the house has them, with one link.
func testMaster(t *testing.T) *master { return newMaster(t, 1, volatile) }

func newMaster(t *testing.T, proxies int, k kind) *master {
	t.Helper()
	dir := t.TempDir()
	library, err := clock.Build(dir)
	must(t, err)
	m, err := startMaster(library, filepath.Join(dir, "master"), proxies, k)
	must(t, err)
	t.Cleanup(func() { must(t, m.stop()) })
	return m
}

// withoutProxy is a house where clients speak to one server itself: a lock that
// is right as long as that server remembers.
func withoutProxy(t *testing.T) *house {
	t.Helper()
	m := testMaster(t)
	return &house{
		dir:     t.TempDir(),
		masters: []*master{m},
		proxies: []*proxy{{run: &integration.Proxy{Addr: m.redis.Addr, Child: m.redis.Child}}},
	}
}

func TestClientsOfOneServerAreNotAccused(t *testing.T) {
	r, err := withoutProxy(t).play(t.Context(), plan{seed: 1, during: 3 * time.Second})
	must(t, err)
	j := judge(r)
	if bad := j.complaints(); len(bad) > 0 || len(j.lost) > 0 {
		t.Errorf("%v\n%s\nlost: %v", j, strings.Join(bad, "\n"), j.lost)
	}
	if j.had() < 10 || len(j.history.Updates) < 10 || j.service.Had < 50 {
		t.Errorf("hardly anything happened: %v", j)
	}
}

func TestServerThatForgetsIsCaughtThreeTimesOver(t *testing.T) {
	h := withoutProxy(t)
	r, err := h.play(t.Context(), plan{seed: 2, during: 6 * time.Second, faults: []fault{forged}, hands: 1})
	must(t, err)
	j := judge(r)
	if len(j.doubles) == 0 || len(j.clashes) == 0 || len(j.lost) == 0 || j.verdict.Result != "Illegal" {
		t.Errorf("Porcupine: %v, %d clashes: %v", j.verdict.Result, len(j.clashes), j)
	}
	dir, err := h.keep(t.TempDir(), j)
	must(t, err)
	for _, name := range []string{"history.html", "history.json", "proxies.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "history.html"))
	must(t, err)
	for _, want := range []string{"acquire s2-0.", "master 0", forged.name} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

func TestSomeMasterRemembersAlways(t *testing.T) {
	h := &house{forgot: make([]lease.Instant, 3)}
	if !h.mayForget(0) || !h.mayForget(1) {
		t.Fatal("two of three may not forget")
	}
	if h.mayForget(2) {
		t.Fatal("all may forget together")
	}
	h.forgot[0] = now().After(-2 * maxTTL)
	if !h.mayForget(2) {
		t.Fatal("the last may not forget although the first is well again")
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for k, without := range map[kind]string{volatile: "kill-durable", durable: "kill-old"} {
		all, err := named("all", k)
		must(t, err)
		listed, err := named(names(all)+",forged", k)
		must(t, err)
		if len(all) != len(faults)-1 || names(listed) != names(all)+",forged" {
			t.Errorf("got %s", names(listed))
		}
		if _, err := named(without, k); err == nil || !strings.Contains(err.Error(), "-durable") {
			t.Errorf("%s on masters of the wrong kind: %v", without, err)
		}
	}
	if _, err := named("kill,fire", volatile); err == nil || !strings.Contains(err.Error(), `"fire"`) {
		t.Errorf("an unknown fault: %v", err)
	}
	seen := strings.Split(names(faults), ",")
	slices.Sort(seen)
	if len(slices.Compact(seen)) != len(faults) {
		t.Error("two faults have one name")
	}
}
