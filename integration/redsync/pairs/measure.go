package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// told is what a run managed. The durations are of pairs.
type told struct {
	Pairs          int
	PerSecond      float64
	P50, P99, P999 time.Duration
}

// measure lets goroutines take and give back locks. Connections are opened and
// the script is loaded before the time begins.
func measure(w way, o options) (told, error) {
	ctx := context.Background()
	var warm, group sync.WaitGroup
	warm.Add(o.goroutines)
	begin := make(chan struct{})
	var stop time.Time
	taken := make([][]time.Duration, o.goroutines)
	failures := make(chan error, 2*o.goroutines)
	for i := range o.goroutines {
		name := "pairs:one"
		if !o.hot {
			name = fmt.Sprint("pairs:", i)
		}
		group.Go(func() {
			if err := pair(ctx, w, name); err != nil {
				failures <- err
			}
			warm.Done()
			<-begin
			for {
				begun := time.Now()
				if !begun.Before(stop) {
					return
				}
				if err := pair(ctx, w, name); err != nil {
					failures <- err
					return
				}
				taken[i] = append(taken[i], time.Since(begun))
			}
		})
	}
	warm.Wait()
	begun := time.Now()
	stop = begun.Add(o.during)
	close(begin)
	group.Wait()
	lasted := time.Since(begun)
	close(failures)
	for err := range failures {
		return told{}, err
	}
	all := slices.Sorted(slices.Values(slices.Concat(taken...)))
	if len(all) == 0 {
		return told{}, nil
	}
	at := func(part float64) time.Duration { return all[int(part*float64(len(all)-1))] }
	return told{len(all), float64(len(all)) / lasted.Seconds(), at(.5), at(.99), at(.999)}, nil
}

func pair(ctx context.Context, w way, name string) error {
	lock, err := w.lock(ctx, name)
	if err != nil {
		return err
	}
	return lock.unlock(ctx)
}
