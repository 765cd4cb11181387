package main

import (
	"os"
	"runtime"
	"time"
)

// A command that is under way alone goes from one goroutine to the next, and back. Where there are several processors each
// of them wakes another core for the next, which takes longer than what that has to do. So a proxy has one processor
// as long as that is enough, and all that it may have as soon as it is not. Beside the same with two at all times one client
// gets a tenth more locks, its p50 is 0.87 of what it was, and it takes a fifth less processor time; what follows on a pause is
// slower by a twentieth until the load is looked at.

const (
	loadEvery = 50 * time.Millisecond // is how often the load is looked at
	calmLoads = 20                    // so many in a row that are low, and one processor is enough
	lowLoad   = 0.9                   // of one processor
)

// load is what has been going on since the last look.
type load struct {
	used     float64 // processors
	inFlight int     // commands, at this moment
}

// low tells that one processor is enough.
func (l load) low() bool { return l.inFlight <= 1 && l.used < lowLoad }

// spread tells how many processors the process has: one, or all. The zero value has all.
type spread struct {
	one  bool
	calm int // loads that were low, since the last that was not
}

// next takes a load, and tells whether one has become all, or all one.
func (s *spread) next(l load) (changes bool) {
	if !l.low() {
		s.calm = 0
		changes, s.one = s.one, false
		return changes
	}
	if s.one {
		return false
	}
	s.calm++
	s.one = s.calm >= calmLoads
	return s.one
}

// spreadOver has the process have as many processors as it needs, until stopped is closed; not where its user has said how many.
func spreadOver(stopped <-chan struct{}, inFlight func() int) {
	if _, said := os.LookupEnv("GOMAXPROCS"); said || runtime.GOMAXPROCS(0) == 1 {
		return
	}
	defer runtime.SetDefaultGOMAXPROCS()
	tick := time.NewTicker(loadEvery)
	defer tick.Stop()
	var s spread
	at, used := time.Now(), processorTime()
	for {
		select {
		case <-stopped:
			return
		case <-tick.C:
		}
		now, sum := time.Now(), processorTime()
		l := load{used: float64(sum-used) / float64(max(now.Sub(at), 1)), inFlight: inFlight()}
		at, used = now, sum
		switch {
		case !s.next(l):
		case s.one:
			runtime.GOMAXPROCS(1)
		default:
			runtime.SetDefaultGOMAXPROCS()
		}
	}
}
