package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

func TestMatrixHasARowForEachFault(t *testing.T) {
	o := options{masters: []int{3, 5}, proxies: 2, round: 15 * time.Second}
	all := lines()
	cells := make([][]cell, len(all))
	for i := range all {
		for range o.masters {
			j := &judged{played: &played{}, service: lease.Service{Longest: 1234 * time.Millisecond, P99: 5 * time.Millisecond}}
			cells[i] = append(cells[i], cell{j, 4 * time.Millisecond})
		}
	}
	text := matrix(o, all, cells)
	for _, want := range []string{
		"15s of each with 3 / 5 masters, 2 proxies",
		"\n| a master killed, restarted blank | 0 / 0 | 0 / 0 | 0 / 0 | 0 / 0 | 1.2s / 1.2s | 5ms (4ms) / 5ms (4ms) |\n",
		"\n| FLUSHALL at a master |", "\n| a proxy killed, restarted |", "\n| a master's clock jumps forward, and back again |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the matrix lacks %q:\n%s", want, text)
		}
	}
	// Frozen clients have none; the head is two lines, and two rows are of several faults.
	if got := strings.Count(text, "\n| "); got != 2+len(faults)-1+2 {
		t.Errorf("%d rows", got)
	}
}

// What stands in the README is of the faults that there are.
func TestDocumentHasARowForEachFault(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), matrixBegins)
	stands, _, _ := strings.Cut(rest, matrixEnds)
	all := lines()
	for _, l := range all {
		if !strings.Contains(stands, "\n| "+l.what+" | ") {
			t.Errorf("the README has no row %q; the command that makes them anew stands there", l.what)
		}
	}
	if rows := strings.Count(stands, "\n| ") - 2; rows != len(all) {
		t.Errorf("%d rows and %d faults", rows, len(all))
	}
}

func TestMatrixIsPutBetweenItsMarks(t *testing.T) {
	got, err := replaceMatrix("before\n"+matrixBegins+"old\n"+matrixEnds+"after\n", "new\n")
	if want := "before\n" + matrixBegins + "new\n" + matrixEnds + "after\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, text := range []string{"", "no marks", matrixBegins, matrixEnds} {
		if _, err := replaceMatrix(text, "new\n"); err == nil {
			t.Errorf("%q: no complaint", text)
		}
	}
}
