package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"redlock-proxy/integration"
)

// trial is one thing that is measured, with servers of its own.
type trial struct {
	name string
	run  func(b *bench, r *report) error
}

// trials is all of them, in the order of the table of what is to be reached.
func trials() []trial {
	return slices.Concat(
		setTrials(), floorTrials(), releaseTrials(), nutcrackerTrials(), pairTrials(), singleTrials(),
		[]trial{{"minority", minorityTrial}},
		pollTrials(),
		[]trial{
			{"poll/in-flight", inFlightTrial},
			{"queue", queueTrial},
			{"wake", wakeTrial},
			{"hot", hotTrial},
			{"allocations", allocationTrial},
			{"idle", idleTrial},
			{"distance", distanceTrial},
			{"tls", tlsTrial},
			{"journal", journalTrial},
		})
}

// bench is what the trials share.
type bench struct {
	options
	dir     string
	program string   // the proxy's
	pairs   string   // the program that redsync is in; "" until it is built
	args    []string // of every proxy
}

func newBench(o options) (*bench, error) {
	b := &bench{options: o, program: o.program}
	var err error
	if b.dir, err = os.MkdirTemp("", "bench-"); err != nil {
		return nil, err
	}
	if b.program == "" {
		if b.program, err = integration.BuildProxy(b.dir, false); err != nil {
			return nil, errors.Join(err, os.RemoveAll(b.dir))
		}
	}
	return b, nil
}

// close removes what was built; what cannot be removed is temporary anyway.
func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// measure runs what was chosen. A trial that fails has its line in the report,
// and the others run all the same.
func (b *bench) measure() (*report, error) {
	r := &report{options: b.options, machine: integration.Machine()}
	chosen := b.chosen()
	if len(chosen) == 0 {
		return r, errors.New("no trial has such a name; -list tells them")
	}
	var failed error
	for i, t := range chosen {
		begun := time.Now()
		err := t.run(b, r)
		switch {
		case errors.Is(err, integration.ErrNoNutcracker):
			r.remark("%s was left out: %v.", t.name, err)
		case err != nil:
			r.remark("**%s failed**: %v", t.name, err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t.name, err))
		}
		fmt.Fprintf(os.Stderr, "%d/%d %s: %v\n", i+1, len(chosen), t.name, time.Since(begun).Round(100*time.Millisecond))
		if err == nil && !b.growth {
			fmt.Fprint(os.Stderr, r.last())
		}
	}
	return r, failed
}

// goal is the aim of the project at N=3: with another number of masters the
// same figures stand there without one.
func (b *bench) goal(must, aim float64) goal {
	if b.masters != 3 {
		return goal{}
	}
	return goal{must: must, aim: aim, set: true}
}

// atMost is goal where less is better.
func (b *bench) atMost(must, aim float64) goal {
	g := b.goal(must, aim)
	g.atMost = true
	return g
}
