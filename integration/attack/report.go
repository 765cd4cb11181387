package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// report is what a run found.
type report struct {
	options options
	machine string
	rows    []*row
}

// quiet is the row in which nobody attacks; nil if it was not chosen.
func (r *report) quiet() *row {
	for _, x := range r.rows {
		if x.name == "quiet" {
			return x
		}
	}
	return nil
}

// median of none is 0.
func median(of []time.Duration) time.Duration { return percentile(of, .5) }

// most is the bystander's p99 at the proxy at which an attack is still its like at one
// Redis.
func (x *row) most(quiet *row) time.Duration {
	most := 2 * median(x.one.p99)
	if quiet != nil {
		most += max(0, median(quiet.proxy.p99)-median(quiet.one.p99))
	}
	return most
}

// clientsMay is how much the proxy may take beyond what it does when idle.
func (o options) clientsMay() int { return o.memory << 20 / 4 * 5 }

// breaks is which bounds an attack has broken.
func (x *row) breaks(quiet *row, o options) (broken []string) {
	breaks := func(format string, values ...any) { broken = append(broken, fmt.Sprintf(format, values...)) }
	if n := sum(x.proxy.refused); n > 0 && !x.may.refusals {
		breaks("%d refused: %s", n, listed(x.proxy.refused))
	}
	if grown := x.peak - x.idle; x.may.bounded && grown > o.clientsMay() {
		breaks("the proxy takes %d MiB more than when idle, and may take %d", grown>>20, o.clientsMay()>>20)
	}
	if x.may.onlyErrors {
		if len(x.proxy.tally.Wrong) > 0 {
			breaks("answers that are no errors: %s", listed(x.proxy.tally.Wrong))
		}
		if x.proxy.tally.Answers == 0 {
			breaks("no answer came")
		}
	}
	if o.short {
		return broken
	}
	p99 := median(x.proxy.p99)
	if most := x.most(quiet); x.may.likeRedis && p99 > most {
		breaks("the bystander's p99 is %s ms, and may be %s", ms(p99), ms(most))
	}
	if x.may.p99 > 0 && p99 > x.may.p99 {
		breaks("the bystander's p99 is %s ms, and may be %s", ms(p99), ms(x.may.p99))
	}
	if x.may.answers > 0 && x.proxy.tally.Slowest > x.may.answers {
		breaks("an answer took %v", x.proxy.tally.Slowest)
	}
	return broken
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s`\n\n%s\n\n", r.options.command, r.machine)
	fmt.Fprintf(&b, "Medians of %d turns of %v that alternate; `max-client-memory` is %d MiB. The bystander's latencies are in ms.\n\n",
		r.options.rounds, r.options.lasts, r.options.memory)
	b.WriteString("| attack | done a second, proxy / one Redis | p50 / p99, proxy | p50 / p99, one Redis | refused, proxy / one Redis | memory of the proxy, MiB | survived | may |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |\n")
	for _, x := range r.rows {
		b.WriteString(x.row(r.quiet(), r.options))
	}
	for _, x := range r.rows {
		for _, text := range x.broken {
			fmt.Fprintf(&b, "\n%s: %s\n", x.name, text)
		}
		if x.lost {
			fmt.Fprintf(&b, "\n%s: the one Redis answered nobody any more, and was started anew: %s\n", x.name, listed(x.one.refused))
		}
	}
	return b.String()
}

// row is a line of the table.
func (x *row) row(quiet *row, o options) string {
	survived := "yes"
	if len(x.broken) > 0 {
		survived = "**see below**"
	}
	one := func(text string) string {
		if x.proxyOnly {
			return "–"
		}
		return text
	}
	did := "–"
	if len(x.crew) > 0 && !x.proxyOnly {
		did = x.proxy.rate() + " / " + x.one.rate()
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %d / %s | +%d | %s | %s |\n", x.title, did, x.proxy.latency(), one(x.one.latency()),
		sum(x.proxy.refused), one(fmt.Sprint(sum(x.one.refused))), max(0, x.peak-x.idle)>>20, survived, x.allowed(quiet, o))
}

// allowed says what an attack may do.
func (x *row) allowed(quiet *row, o options) string {
	var list []string
	if x.may.likeRedis {
		list = append(list, "p99 ≤ "+ms(x.most(quiet)))
	}
	if x.may.p99 > 0 {
		list = append(list, "p99 ≤ "+ms(x.may.p99))
	}
	if x.may.answers > 0 {
		list = append(list, fmt.Sprintf("an error within %v: %v", x.may.answers, x.proxy.tally.Slowest.Round(time.Millisecond)))
	}
	if x.may.bounded {
		list = append(list, fmt.Sprintf("memory ≤ +%d", o.clientsMay()>>20))
	}
	if !x.may.refusals {
		list = append(list, "no refusal")
	}
	return strings.Join(list, ", ")
}

func (s *side) latency() string { return ms(median(s.p50)) + " / " + ms(median(s.p99)) }

func (s *side) rate() string {
	if s.tally.Done == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", float64(s.tally.Done)/s.lasted.Seconds())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

func sum(counts map[string]int) (n int) {
	for _, one := range counts {
		n += one
	}
	return n
}

// listed is counts in words, the same each time.
func listed(counts map[string]int) string {
	var list []string
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%d × %s", counts[text], text))
	}
	return strings.Join(list, "; ")
}
