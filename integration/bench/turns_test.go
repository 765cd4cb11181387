package main

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestSidesAlternate(t *testing.T) {
	steal(t, 0)
	b := &bench{options: options{rounds: 3, turn: 4 * time.Second}}
	var order []string
	one := func(name string, perSecond float64) *side {
		return &side{name: name, load: func(d time.Duration) (sample, error) {
			if d == b.turn {
				order = append(order, name)
			}
			return sample{perSecond: perSecond}, nil
		}}
	}
	direct, proxy := one("A", 200), one("B", 100)
	if err := b.turns(direct, proxy); err != nil {
		t.Fatal(err)
	}
	if want := []string{"A", "B", "B", "A", "A", "B"}; !slices.Equal(order, want) {
		t.Errorf("the order was %v, want %v", order, want)
	}
	if got := proxy.beside(direct, throughput); !slices.Equal(got, []float64{0.5, 0.5, 0.5}) {
		t.Errorf("the ratios are %v", got)
	}
}

// TestTurnWithoutQuorumIsRepeated, and the report tells; but not for ever, and
// nothing else is.
func TestTurnWithoutQuorumIsRepeated(t *testing.T) {
	steal(t, 0)
	noQuorum := errors.New("redis-benchmark is answered NOQUORUM 1 of 3 masters can vote, 2 are needed")
	broken := errors.New("broken")
	for _, row := range []struct {
		err         error
		fails, runs int
		want        error
	}{
		{noQuorum, 1, 2, nil},
		{noQuorum, mostRefused, mostRefused + 1, nil},
		{noQuorum, mostRefused + 1, mostRefused + 1, noQuorum},
		{broken, 1, 1, broken},
	} {
		runs := 0
		s := &side{name: "proxy", load: func(time.Duration) (sample, error) {
			if runs++; runs <= row.fails {
				return sample{}, row.err
			}
			return sample{operations: 1, perSecond: 1}, nil
		}}
		if _, err := s.once(time.Second); !errors.Is(err, row.want) || runs != row.runs {
			t.Errorf("%d times %v: %v after %d runs, want %v after %d", row.fails, row.err, err, runs, row.want, row.runs)
		}
		r := &report{}
		if r.addFigures("x", s); (len(r.remarks) == 1) != (row.err == noQuorum) {
			t.Errorf("%d times %v: the report remarks %q", row.fails, row.err, r.remarks)
		}
	}
}

// steal has the host give so many of the next turns to others.
func steal(t *testing.T, turns int) {
	var now ticks
	looks := 0
	timeOfMachine = func() ticks {
		if looks++; looks%2 == 0 { // at the end of a turn
			now.all += 100
			if looks <= 2*turns {
				now.stolen += 20
			}
		}
		return now
	}
	t.Cleanup(func() { timeOfMachine = machineTime })
}

// TestDisturbedTurnIsRepeated, whatever came of it, and the report tells; but not for
// ever.
func TestDisturbedTurnIsRepeated(t *testing.T) {
	for _, row := range []struct{ turns, runs, taken int }{
		{0, 1, 1}, {1, 2, 2}, {mostDisturbed, mostDisturbed + 1, mostDisturbed + 1}, {mostDisturbed + 1, mostDisturbed + 1, mostDisturbed + 1},
	} {
		steal(t, row.turns)
		runs := 0
		s := &side{name: "proxy", load: func(time.Duration) (sample, error) {
			if runs++; runs == 1 && row.turns > 0 {
				return sample{}, errors.New("NOQUORUM")
			}
			return sample{operations: runs, perSecond: 1}, nil
		}}
		taken, err := s.once(time.Second)
		if err != nil || runs != row.runs || taken.operations != row.taken {
			t.Errorf("%d turns disturbed: turn %d counts after %d runs, %v; want turn %d after %d", row.turns, taken.operations, runs, err, row.taken, row.runs)
		}
		r := &report{}
		if r.addFigures("x", s); (len(r.remarks) == 1) != (row.turns > 0) {
			t.Errorf("%d turns disturbed: the report remarks %q", row.turns, r.remarks)
		}
	}
}
