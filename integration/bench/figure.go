package main

import (
	"fmt"
	"strings"
	"time"
)

// figure is what one side of a trial showed, medians of its turns.
type figure struct {
	trial, side    string
	perSecond      float64
	p50, p99, p999 float64 // milliseconds
	proxy, redis   string  // CPU µs and calls per operation, or –
}

// The names under which the two kinds of processes are watched.
const (
	watchedProxy = "proxy"
	watchedRedis = "redis"
)

// addFigures keeps the sides' figures.
func (r *report) addFigures(trial string, sides ...*side) {
	for _, s := range sides {
		milliseconds := func(of func(sample) time.Duration) float64 {
			return quartilesOf(s.column(func(t sample) float64 { return of(t).Seconds() * 1000 })).median
		}
		f := figure{
			trial: trial, side: s.name,
			perSecond: quartilesOf(s.column(throughput)).median,
			p50:       milliseconds(func(t sample) time.Duration { return t.p50 }),
			p99:       milliseconds(func(t sample) time.Duration { return t.p99 }),
			p999:      milliseconds(func(t sample) time.Duration { return t.p999 }),
			proxy:     s.costText(watchedProxy),
			redis:     s.costText(watchedRedis),
		}
		r.figures = append(r.figures, f)
	}
	r.remarkRepeated(trial, sides...)
}

func (r *report) remarkRepeated(what string, sides ...*side) {
	for _, s := range sides {
		if s.disturbed > 0 {
			r.remark("%s, %s: %d turns were repeated, since the host gave over %.0f %% of this machine's processor time to others meanwhile.",
				what, s.name, s.disturbed, 100*muchStolen)
		}
		if s.refused > 0 {
			r.remark("%s, %s: %d turns ended in NOQUORUM and were repeated.", what, s.name, s.refused)
		}
	}
}

// perOperation is the median of what a group of processes spent on one
// operation; ok is false if the side has no such group.
func (s *side) perOperation(name string) (cpu, calls float64, ok bool) {
	for i, w := range s.watched {
		if w.name != name {
			continue
		}
		cpu = quartilesOf(s.column(func(t sample) float64 {
			return float64(t.costs[i].cpu.Microseconds()) / float64(t.operations)
		})).median
		calls = quartilesOf(s.column(func(t sample) float64 {
			return float64(t.costs[i].calls) / float64(t.operations)
		})).median
		return cpu, calls, true
	}
	return 0, 0, false
}

func (s *side) costText(name string) string {
	cpu, calls, ok := s.perOperation(name)
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%s / %s", number(cpu), number(calls))
}

func figuresMarkdown(figures []figure) string {
	var b strings.Builder
	b.WriteString("| trial | side | per second | p50 / p99 / p99.9 ms | proxy: CPU µs / calls | Redis, all: CPU µs / calls |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, f := range figures {
		fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %s | %s |\n", f.trial, f.side, f.perSecond, f.latencies(), f.proxy, f.redis)
	}
	return b.String()
}

func (f figure) latencies() string { return fmt.Sprintf("%.3f / %.3f / %.3f", f.p50, f.p99, f.p999) }
