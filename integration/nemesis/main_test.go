package main

import (
	"fmt"
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
	m, err := startMaster("", library, filepath.Join(dir, "master"), proxies, k)
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
		alone:   true,
		masters: []*master{m},
		proxies: []*proxy{{run: &integration.Proxy{Addr: m.redis.Addr, Child: m.redis.Child}}},
	}
}

// playUntil plays rounds, each twice as long as the one before, until enough has happened in
// one: a machine that is busy with other things does less in a time.
func playUntil(t *testing.T, h *house, p plan, enough func(*judged) bool) *judged {
	t.Helper()
	for {
		r, err := h.play(t.Context(), p)
		must(t, err)
		j := judge(r)
		if enough(j) {
			return j
		}
		if p.during *= 2; p.during > time.Minute {
			t.Fatalf("Porcupine: %v, %d clashes: %v", j.verdict.Result, len(j.clashes), j)
		}
		p.seed++
	}
}

func TestClientsOfOneServerAreNotAccused(t *testing.T) {
	playUntil(t, withoutProxy(t), plan{seed: 1, during: 3 * time.Second, works: locksAlone}, func(j *judged) bool {
		if bad := j.complaints(); len(bad) > 0 || len(j.lost) > 0 {
			t.Errorf("%v\n%s\nlost: %v", j, strings.Join(bad, "\n"), j.lost)
		}
		return j.had() >= 10 && len(j.history.Updates) >= 10 && j.service.Had >= 50
	})
}

func TestServerThatForgetsIsCaughtThreeTimesOver(t *testing.T) {
	h := withoutProxy(t)
	p := plan{seed: 2, during: 6 * time.Second, works: locksAlone, faults: []fault{forged}, hands: 1}
	j := playUntil(t, h, p, func(j *judged) bool {
		if len(j.doubles) > 0 && j.verdict.Result != "Illegal" {
			t.Errorf("Porcupine: %v: %v", j.verdict.Result, j)
		}
		return len(j.doubles) > 0 && len(j.clashes) > 0 && len(j.lost) > 0
	})
	dir, err := h.keep(t.TempDir(), j)
	must(t, err)
	for _, name := range []string{"history.html", "history.json", "proxies.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "history.html"))
	must(t, err)
	for _, want := range []string{fmt.Sprintf("acquire s%d-0.", j.seed), "master 0", forged.name} {
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
	h.forgot[0] = now().After(-2 * knownAgain)
	if !h.mayForget(2) {
		t.Fatal("the last may not forget although the first is well again")
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for k, without := range map[kind]string{volatile: "undurable", durable: "follow"} {
		all, err := named("all", k)
		must(t, err)
		listed, err := named(names(all)+",forged", k)
		must(t, err)
		if len(all) != len(faults)-2 || names(listed) != names(all)+",forged" {
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
