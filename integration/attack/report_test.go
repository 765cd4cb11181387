package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func sideOf(p99 ...time.Duration) side { return side{p50: p99, p99: p99, lasted: time.Second} }

// TestWhatBreaksABound: each bound by itself, at it and beyond it; and which of them count where
// nothing may hang on the machine's speed.
func TestWhatBreaksABound(t *testing.T) {
	const ms = time.Millisecond
	quiet := &row{proxy: sideOf(3 * ms), one: sideOf(ms)} // 2 ms more
	long := options{memory: 100}
	refused := map[string]int{"NOQUORUM 1 of 3 masters": 2}
	for _, test := range []struct {
		name     string
		row      row
		broken   string // "" if it is not
		alsoFast bool   // counts with -short
	}{
		{"like Redis", row{attack: attack{may: may{likeRedis: true}}, proxy: sideOf(ms, 12*ms, 99*ms), one: sideOf(5 * ms)}, "", false},
		{"unlike Redis", row{attack: attack{may: may{likeRedis: true}}, proxy: sideOf(13 * ms), one: sideOf(5 * ms)}, "13.00 ms, and may be 12.00", false},
		{"no bound by Redis", row{proxy: sideOf(time.Hour), one: sideOf(ms)}, "", false},
		{"soon", row{attack: attack{may: may{p99: 50 * ms}}, proxy: sideOf(50 * ms)}, "", false},
		{"late", row{attack: attack{may: may{p99: 50 * ms}}, proxy: sideOf(51 * ms)}, "51.00 ms, and may be 50.00", false},
		{"answered", row{attack: attack{may: may{answers: time.Second}}, proxy: side{tally: tally{Slowest: time.Second}}}, "", false},
		{"answered late", row{attack: attack{may: may{answers: time.Second}}, proxy: side{tally: tally{Slowest: 1001 * ms}}}, "1.001s", false},
		{"refused", row{proxy: side{refused: refused}}, "2 refused: 2 × NOQUORUM", true},
		{"refused by Redis", row{one: side{refused: refused}}, "", true},
		{"may be refused", row{attack: attack{may: may{refusals: true}}, proxy: side{refused: refused}}, "", true},
		{"much memory", row{attack: attack{may: may{bounded: true}}, idle: 20 << 20, peak: 145 << 20}, "", true},
		{"too much memory", row{attack: attack{may: may{bounded: true}}, idle: 20 << 20, peak: 146 << 20}, "126 MiB more than when idle, and may take 125", true},
		{"memory without bound", row{idle: 0, peak: 1 << 40}, "", true},
		{"errors", row{attack: attack{may: may{onlyErrors: true}}, proxy: side{tally: tally{Answers: 1}}}, "", true},
		{"no answers", row{attack: attack{may: may{onlyErrors: true}}}, "no answer came", true},
		{"no errors", row{attack: attack{may: may{onlyErrors: true}}, proxy: side{tally: tally{Answers: 1, Wrong: map[string]int{"OK": 1}}}}, "no errors: 1 × OK", true},
	} {
		check := func(o options, want string) {
			t.Helper()
			got := strings.Join(test.row.breaks(quiet, o), "\n")
			if (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", test.name, got, want)
			}
		}
		check(long, test.broken)
		short := long
		short.short = true
		if test.alsoFast {
			check(short, test.broken)
		} else {
			check(short, "")
		}
	}
}

// TestWithoutAQuietRowTheLikeIsTwice, no more.
func TestWithoutAQuietRowTheLikeIsTwice(t *testing.T) {
	x := row{one: sideOf(5 * time.Millisecond)}
	if most := x.most(nil); most != 10*time.Millisecond {
		t.Error(most)
	}
}

func TestReportTellsWhatIsBroken(t *testing.T) {
	x := &row{attack: attack{name: "quiet", title: "nobody", crew: []string{"x"}}, proxy: sideOf(time.Millisecond), one: sideOf(time.Millisecond),
		idle: 1 << 20, peak: 3 << 20, lost: true, broken: []string{"it is slow"}}
	x.proxy.tally.Done = 1000
	r := &report{rows: []*row{x}}
	for _, want := range []string{"| nobody | 1000 / – | 1.00 / 1.00 | 1.00 / 1.00 | 0 / 0 | +2 | **see below** |", "quiet: it is slow", "quiet: the one Redis answered nobody"} {
		if !strings.Contains(r.markdown(), want) {
			t.Errorf("the report lacks %q:\n%s", want, r.markdown())
		}
	}
}

// What came of the attacks is told of those that there are.
func TestDocumentHasARowForEachAttack(t *testing.T) {
	b, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "\n| attack | done a second")
	table, _, _ := strings.Cut(rest, "\n\n")
	list := attacks()
	for _, a := range list {
		if !strings.Contains(table, "\n| "+a.title+" |") {
			t.Errorf("the README has no row %q", a.title)
		}
	}
	if rows := strings.Count(table, "\n| ") - 1; rows != len(list) {
		t.Errorf("%d rows and %d attacks", rows, len(list))
	}
}
