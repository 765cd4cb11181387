package main

import (
	"fmt"
	"strings"
	"time"
)

// sample is what one turn showed.
type sample struct {
	operations     int
	perSecond      float64
	p50, p99, p999 time.Duration
	costs          []cost // of side.watched, in its order
}

// side is one of those that take turns.
type side struct {
	name    string
	prepare func() error // before each turn, not measured; may be nil
	load    func(time.Duration) (sample, error)
	watched []watched

	samples   []sample
	refused   int // turns that ended in NOQUORUM and were repeated
	disturbed int // turns that were repeated because the machine had not all of its time
}

// mostRefused bounds how many turns of a side may be repeated. A master that
// gets no processor for longer than acquire-timeout cannot vote, and on a
// machine that does other things too that happens; the report says how often.
const mostRefused = 3

// mostDisturbed bounds the same for turns in which the host gave much of the
// machine's processor time to others.
const mostDisturbed = 9

// warmUps is how often a side runs before it counts. Two, since the first says
// too little of how much a turn can hold.
const warmUps = 2

// turns measures the sides in turns, the first going first and last by turns,
// after short turns of each that warm up and are not counted.
func (b *bench) turns(sides ...*side) error {
	for range warmUps {
		for _, s := range sides {
			if _, err := s.once(b.turn / 4); err != nil {
				return err
			}
		}
	}
	for round := range b.rounds {
		for i := range sides {
			s := sides[i]
			if round%2 == 1 {
				s = sides[len(sides)-1-i]
			}
			taken, err := s.once(b.turn)
			if err != nil {
				return err
			}
			s.samples = append(s.samples, taken)
		}
	}
	return nil
}

// once is one turn, repeated if there was no quorum, or if others had the processors.
func (s *side) once(d time.Duration) (sample, error) {
	for {
		before := timeOfMachine()
		taken, err := s.try(d)
		noQuorum := err != nil && strings.Contains(err.Error(), "NOQUORUM")
		switch disturbed := timeOfMachine().stolenSince(before) > muchStolen; {
		case err != nil && !noQuorum:
			return taken, err
		case disturbed && s.disturbed < mostDisturbed:
			s.disturbed++
		case noQuorum && s.refused < mostRefused:
			s.refused++
		default:
			return taken, err
		}
	}
}

func (s *side) try(d time.Duration) (taken sample, err error) {
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return taken, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	before := make([]cost, len(s.watched))
	for i, w := range s.watched {
		if before[i], err = w.spent(); err != nil {
			return taken, err
		}
	}
	if taken, err = s.load(d); err != nil {
		return taken, fmt.Errorf("%s: %w", s.name, err)
	}
	for i, w := range s.watched {
		after, err := w.spent()
		if err != nil {
			return taken, err
		}
		taken.costs = append(taken.costs, after.less(before[i]))
	}
	return taken, nil
}

// column is one figure of each of the side's turns.
func (s *side) column(of func(sample) float64) []float64 {
	values := make([]float64, len(s.samples))
	for i, taken := range s.samples {
		values[i] = of(taken)
	}
	return values
}

// beside is the ratio of one figure, turn by turn: s's over other's.
func (s *side) beside(other *side, of func(sample) float64) []float64 {
	over, under := s.column(of), other.column(of)
	for i := range over {
		over[i] /= under[i]
	}
	return over
}

func throughput(s sample) float64 { return s.perSecond }

func medianLatency(s sample) float64 { return s.p50.Seconds() }

func latency99(s sample) float64 { return s.p99.Seconds() }
