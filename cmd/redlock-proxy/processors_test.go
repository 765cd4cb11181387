package main

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// One processor is enough where it was for a while, and no longer than that.
func TestProcessHasAsManyProcessorsAsItNeeds(t *testing.T) {
	calm, busy, crowded := load{0.8, 1}, load{0.9, 1}, load{0.1, 2}
	var s spread
	goes := func(l load, times int, one bool) {
		t.Helper()
		for i := range times {
			was := s.one
			if changes := s.next(l); changes != (s.one != was) {
				t.Errorf("%+v, %d: it tells %v, and one is %v after %v", l, i, changes, s.one, was)
			}
		}
		if s.one != one {
			t.Errorf("after %d times %+v one processor is enough: %v", times, l, s.one)
		}
	}
	goes(calm, calmLoads-1, false)
	goes(busy, 1, false)
	goes(calm, calmLoads-1, false)
	goes(calm, 1, true)
	goes(calm, 100, true)
	goes(crowded, 1, false)
	goes(calm, calmLoads, true)
	goes(busy, 1, false)
	goes(load{0, 0}, calmLoads, true)
}

// It is so of a process, as long as it runs and its user has not said how many it is to have.
func TestProcessorsAreGivenAndTaken(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	if _, said := os.LookupEnv("GOMAXPROCS"); said || all == 1 {
		t.Skip("there is one processor, or it is said how many there are to be")
	}
	var inFlight atomic.Int64
	var running sync.WaitGroup
	stopped := make(chan struct{})
	running.Go(func() { spreadOver(stopped, func() int { return int(inFlight.Load()) }) })
	wants := func(n int) {
		t.Helper()
		for until := time.Now().Add(time.Minute); runtime.GOMAXPROCS(0) != n; time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("it has %d processors, want %d", runtime.GOMAXPROCS(0), n)
			}
		}
	}
	wants(1)
	inFlight.Store(2)
	wants(all)
	inFlight.Store(1)
	wants(1)
	close(stopped)
	running.Wait()
	wants(all)
	t.Setenv("GOMAXPROCS", "3")
	spreadOver(make(chan struct{}), nil)
}
