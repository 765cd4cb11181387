package main

import (
	"math"
	"testing"
)

func TestQuartilesInterpolate(t *testing.T) {
	for _, row := range []struct {
		values            []float64
		low, median, high float64
	}{
		{[]float64{7}, 7, 7, 7},
		{[]float64{4, 1, 3, 2}, 1.75, 2.5, 3.25},
		{[]float64{9, 1, 5, 3, 7}, 3, 5, 7},
	} {
		if got := quartilesOf(row.values); got != (quartiles{row.low, row.median, row.high}) {
			t.Errorf("the quartiles of %v are %v", row.values, got)
		}
	}
	if q := quartilesOf(nil); !math.IsNaN(q.median) {
		t.Errorf("the median of nothing is %v", q.median)
	}
}

// TestWideSpreadCountsTheBetterQuartile, and a narrow one the median.
func TestWideSpreadCountsTheBetterQuartile(t *testing.T) {
	least, most := goal{must: 0.5, aim: 0.7, set: true}, goal{must: 2.2, aim: 1.8, atMost: true, set: true}
	for _, row := range []struct {
		goal goal
		q    quartiles
		want string
	}{
		{least, quartiles{0.60, 0.62, 0.63}, "must met"},
		{least, quartiles{0.48, 0.49, 0.51}, "**not met**"},
		{least, quartiles{0.40, 0.49, 0.51}, "must met"},
		{least, quartiles{0.40, 0.69, 0.71}, "aim met"},
		{most, quartiles{2.2, 2.25, 2.3}, "**not met**"},
		{most, quartiles{2.1, 2.25, 2.5}, "must met"},
		{most, quartiles{1.7, 1.75, 1.8}, "aim met"},
		{goal{atMost: true, set: true}, quartiles{0, 0, 0}, "aim met"},
		{goal{atMost: true, set: true}, quartiles{0, 0, 1}, "aim met"},
		{goal{atMost: true, set: true}, quartiles{1, 2, 3}, "**not met**"},
		{least, quartilesOf(nil), "**not measured**"},
		{goal{}, quartiles{1, 1, 1}, "–"},
	} {
		if got := row.goal.verdict(row.q); got != row.want {
			t.Errorf("%v against %+v: %s, want %s", row.q, row.goal, got, row.want)
		}
	}
}
