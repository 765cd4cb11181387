package main

import (
	"fmt"
	"math"
	"slices"
)

// quartiles are what is told of a column of figures.
type quartiles struct{ low, median, high float64 }

// quartilesOf interpolates between the two values that stand beside a quartile.
func quartilesOf(values []float64) quartiles {
	sorted := slices.Sorted(slices.Values(values))
	at := func(part float64) float64 {
		if len(sorted) == 0 {
			return math.NaN()
		}
		place := part * float64(len(sorted)-1)
		below := int(place)
		above := min(below+1, len(sorted)-1)
		return sorted[below] + (sorted[above]-sorted[below])*(place-float64(below))
	}
	return quartiles{at(0.25), at(0.5), at(0.75)}
}

// spread is the distance of the quartiles as a part of the median.
func (q quartiles) spread() float64 { return (q.high - q.low) / math.Abs(q.median) }

// goal is what a figure must reach and should. The zero goal demands nothing.
type goal struct {
	must, aim float64
	atMost    bool // less is better
	set       bool
}

// wideSpread is where the quartile on the goal's side counts in the median's place.
const wideSpread = 0.10

// counts is the figure that a goal is held against.
func (g goal) counts(q quartiles) float64 {
	switch {
	case q.median == 0 || q.spread() <= wideSpread:
		return q.median
	case g.atMost:
		return q.low
	}
	return q.high
}

func (g goal) met(figure, wanted float64) bool {
	if g.atMost {
		return figure <= wanted
	}
	return figure >= wanted
}

// verdict says in words how a figure stands to its goal.
func (g goal) verdict(q quartiles) string {
	figure := g.counts(q)
	switch {
	case !g.set:
		return "–"
	case math.IsNaN(figure):
		return "**not measured**"
	case g.met(figure, g.aim):
		return "aim met"
	case g.met(figure, g.must):
		return "must met"
	}
	return "**not met**"
}

// demand writes one of the goal's numbers.
func (g goal) demand(wanted float64) string {
	switch {
	case !g.set:
		return "–"
	case g.atMost:
		return "≤ " + number(wanted)
	}
	return "≥ " + number(wanted)
}

// number writes three digits that say something, and what is large in whole.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case a >= 100, v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
