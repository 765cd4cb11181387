package lease

import (
	"slices"
	"time"
)

// Service is how the lock served those who asked for locks that nobody had.
type Service struct {
	Asked, Had int           // acquires, and those that were granted
	Longest    time.Duration // without a grant to anybody
	P99        time.Duration // of the acquires that were granted
}

// Served sums up acquires of uncontended locks between two moments.
func Served(probes []Op, from, to Instant) Service {
	var s Service
	var grants []Instant
	var took []time.Duration
	for _, op := range probes {
		if op.Kind != Acquire || op.Return < from || op.Return > to {
			continue
		}
		s.Asked++
		if op.Outcome == Yes {
			s.Had++
			grants = append(grants, op.Return)
			took = append(took, op.Return.Since(op.Call))
		}
	}
	slices.Sort(grants)
	last := from
	for _, g := range append(grants, to) {
		s.Longest = max(s.Longest, g.Since(last))
		last = g
	}
	slices.Sort(took)
	if len(took) > 0 {
		s.P99 = took[(len(took)-1)*99/100]
	}
	return s
}
