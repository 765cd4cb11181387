package main

import "testing"

func TestStolenTimeIsAPartOfAll(t *testing.T) {
	before := parseTicks("cpu  100 0 50 800 10 0 20 20 5 0\ncpu0 1 2 3\n")
	after := parseTicks("cpu  140 0 60 810 10 0 20 60 9 0\n")
	if before.all != 1000 || before.stolen != 20 {
		t.Errorf("%+v", before)
	}
	if got := after.stolenSince(before); got != 0.4 {
		t.Errorf("%v, want 0.4", got)
	}
	for _, stat := range []string{"", "cpu 1 2 3\n", "cpu a b c d e f g h i j\n"} {
		if got := parseTicks(stat); got != (ticks{}) || got.stolenSince(got) != 0 {
			t.Errorf("%q: %+v", stat, got)
		}
	}
}
