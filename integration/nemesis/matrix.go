package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// line is one of the matrix's: some faults, and how many at a time.
type line struct {
	what   string
	faults []fault
	// how many at a time, and whether they wait for each other's end.
	quorum, patient bool
	on              kind // of masters
}

func lines() []line {
	var all []line
	for _, f := range faults {
		if f.target == someClients {
			continue // what they would measure is their own sleep
		}
		what := "a master " + f.what
		switch {
		case f.target == aProxy:
			what = f.what
		case f.name == "flush":
			what = "FLUSHALL at a master"
		case strings.HasPrefix(f.what, "clock"):
			what = "a master's " + f.what
		}
		on := volatile
		if f.on == durable {
			what, on = "a durable master "+f.what, durable
		}
		all = append(all, line{what: what, faults: []fault{f}, patient: true, on: on})
	}
	rest := slices.DeleteFunc(suffered(volatile), func(f fault) bool { return f.target == someClients })
	return append(all,
		line{what: "a quorum of masters killed at a time, restarted blank", faults: faults[:1], quorum: true, patient: true, on: volatile},
		line{what: "all of these, a quorum at a time, and on before they are over", faults: rest, quorum: true, on: volatile})
}

// cell is what a line came to with so many masters.
type cell struct {
	*judged
	healthy time.Duration // p99
}

// printMatrix plays a round of each line for each number of masters.
func printMatrix(ctx context.Context, o options) error {
	o.works = locksAlone
	all := lines()
	cells := make([][]cell, len(all))
	for _, o.kind = range []kind{volatile, durable} {
		err := withHouses(o, func(h *house, masters int) error {
			for i, l := range all {
				if l.on != o.kind {
					continue
				}
				o.seed += 2
				c, err := h.line(ctx, o, l, masters)
				if err != nil {
					return fmt.Errorf("%s: %w", l.what, err)
				}
				cells[i] = append(cells[i], c)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	text := matrix(o, all, cells)
	if o.readme == "" {
		fmt.Print(text)
		return nil
	}
	return intoReadme(o.readme, text)
}

// line plays the round of one line, right after a shorter one that is healthy.
func (h *house) line(ctx context.Context, o options, l line, masters int) (cell, error) {
	hands := 1
	if l.quorum {
		hands = quorum(masters)
	}
	healthy, err := h.hunt(ctx, plan{seed: o.seed, during: o.round / 4, works: locksAlone})
	if err != nil {
		return cell{}, err
	}
	j, err := h.hunt(ctx, plan{o.seed + 1, o.round, locksAlone, l.faults, hands, l.patient})
	if err != nil {
		return cell{}, err
	}
	if len(j.strange) > 0 {
		return cell{}, fmt.Errorf("a client was told: %s", j.strange[0])
	}
	fmt.Fprintf(os.Stderr, "%d masters, %s: %v\n", masters, l.what, j)
	return cell{j, healthy.service.P99}, ctx.Err()
}

// matrix is the table in Markdown. Every cell has a value for each number of
// masters, with strokes between.
func matrix(o options, all []line, cells [][]cell) string {
	var b strings.Builder
	numbers := strings.Trim(strings.ReplaceAll(fmt.Sprint(o.masters), " ", " / "), "[]")
	fmt.Fprintf(&b, "%v of each with %s masters, %d proxies and %d clients in %d processes that want the same %d locks, on %d cores, `max-ttl` being %v; ",
		o.round, numbers, o.proxies, processes*workers, processes, keys, runtime.NumCPU(), maxTTL)
	fmt.Fprintf(&b, "each after a healthy quarter of that; values for %s masters. *Without service* and *p99* are those of clients that ask for locks that nobody has, and that go on to the next proxy after %v of silence.\n\n", numbers, patience)
	b.WriteString("| what happens, again as soon as all masters vote | how often | locks had | locks lost | double holders | longest without service | p99, healthy in brackets |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	for i, l := range all {
		fmt.Fprintf(&b, "| %s", l.what)
		for _, show := range []func(cell) string{
			func(c cell) string { return fmt.Sprint(len(c.marks)) },
			func(c cell) string { return fmt.Sprint(c.had()) },
			func(c cell) string { return fmt.Sprint(len(c.lost)) },
			func(c cell) string { return fmt.Sprint(c.twice()) },
			func(c cell) string { return rounded(c.service.Longest) },
			func(c cell) string { return fmt.Sprintf("%s (%s)", rounded(c.service.P99), rounded(c.healthy)) },
		} {
			var values []string
			for _, c := range cells[i] {
				values = append(values, show(c))
			}
			fmt.Fprintf(&b, " | %s", strings.Join(values, " / "))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// rounded keeps what a measurement of this kind is worth.
func rounded(d time.Duration) string {
	if d >= time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
