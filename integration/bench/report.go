package main

import (
	"fmt"
	"strings"
)

// line is one figure with its goal.
type line struct {
	trial   string
	measure string
	goal    goal
	values  []float64 // of each turn
	note    string
}

// report is what a run found.
type report struct {
	options options
	machine string
	lines   []line
	figures []figure
	growth  []table
	remarks []string
}

func (r *report) add(l line) { r.lines = append(r.lines, l) }

func (r *report) remark(format string, values ...any) {
	r.remarks = append(r.remarks, fmt.Sprintf(format, values...))
}

// last is the lines of the trial that was measured last.
func (r *report) last() string {
	if len(r.lines) == 0 {
		return ""
	}
	name := r.lines[len(r.lines)-1].trial
	var b strings.Builder
	for _, l := range r.lines {
		if l.trial == name {
			q := quartilesOf(l.values)
			fmt.Fprintf(&b, "    %s: %s (%s to %s), %s\n", l.measure, number(q.median), number(q.low), number(q.high), l.goal.verdict(q))
		}
	}
	return b.String()
}

// markdown is the whole report.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s`\n\n%s\n\n", r.options.command, r.machine)
	fmt.Fprintf(&b, "N=%d unless said; medians of %d turns of %v that alternate. Ratios mean something within this run alone.\n",
		r.options.masters, r.options.rounds, r.options.turn)
	if len(r.lines) > 0 {
		b.WriteString("\n| measure | median | quartiles | must | aim | |\n| --- | ---: | ---: | ---: | ---: | --- |\n")
		for _, l := range r.lines {
			q := quartilesOf(l.values)
			verdict := l.goal.verdict(q)
			if l.note != "" {
				verdict += "; " + l.note
			}
			fmt.Fprintf(&b, "| %s | %s | %s to %s | %s | %s | %s |\n", l.measure, number(q.median), number(q.low), number(q.high),
				l.goal.demand(l.goal.must), l.goal.demand(l.goal.aim), verdict)
		}
	}
	for _, t := range r.growth {
		b.WriteString("\n" + t.markdown())
	}
	if len(r.figures) > 0 {
		b.WriteString("\n" + figuresMarkdown(r.figures))
	}
	for _, text := range r.remarks {
		b.WriteString("\n" + text + "\n")
	}
	return b.String()
}
