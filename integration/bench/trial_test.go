package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestTrialsMeasure runs one trial of each kind, much too short to mean
// anything: every line must hold a figure.
func TestTrialsMeasure(t *testing.T) {
	o, err := parse(strings.Fields("-rounds 1 -turn 50ms -idle 100 " +
		"-run ^(set/c50-P1|floor/set/c50-P16|release/c50-P1|pairs/N3-g50|p50/c1|poll/P1|allocations|idle|distance)$"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBench(o)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	b.args = []string{"--acquire-timeout", "10s", "--master-timeout", "10s"} // the machine may be busy
	r, err := b.measure()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"set/c50-P1", "floor/set/c50-P16", "release/c50-P1", "pairs/N3-g50", "p50/c1", "poll/P1", "allocations", "idle", "distance"} {
		if !slices.ContainsFunc(r.lines, func(l line) bool { return l.trial == name }) {
			t.Errorf("%s added no line", name)
		}
	}
	for _, l := range r.lines {
		q := quartilesOf(l.values)
		// What grows may as well shrink.
		if grows := strings.Contains(l.measure, "growth"); math.IsNaN(q.median) || math.IsInf(q.median, 0) || q.median <= 0 && !grows {
			t.Errorf("%s: %s is %v", l.trial, l.measure, l.values)
		}
	}
	for _, f := range r.figures {
		if f.perSecond <= 0 || f.p50 <= 0 || f.p99 < f.p50 || f.p999 < f.p99 {
			t.Errorf("%s, %s: %+v", f.trial, f.side, f)
		}
	}
	for _, want := range []string{"| `SET NX PX` beside direct, c50 P1 |", "≥ 0.65 | ≥ 0.75 |", "| set/c50-P1 | proxy |"} {
		if !strings.Contains(r.markdown(), want) {
			t.Errorf("the report lacks %q:\n%s", want, r.markdown())
		}
	}
}

// TestTrialsHaveNamesOfTheirOwn: -run must be able to choose each.
func TestTrialsHaveNamesOfTheirOwn(t *testing.T) {
	seen := make(map[string]bool)
	for _, list := range [][]trial{trials(), growthTrials()} {
		for _, one := range list {
			if seen[one.name] {
				t.Errorf("two trials are called %s", one.name)
			}
			seen[one.name] = true
		}
	}
	if len(seen) < 30 {
		t.Errorf("there are %d trials", len(seen))
	}
}
