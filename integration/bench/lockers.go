package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// lockers are clients that each take a lock of their own and give it back, as
// fast as they are answered. The latencies are of single commands.
type lockers struct {
	addr    string
	clients int
}

func (l lockers) load(d time.Duration) (sample, error) {
	wires := make([]*wire, l.clients)
	for i := range wires {
		w, err := dialWire(l.addr)
		if err != nil {
			return sample{}, err
		}
		defer w.close()
		wires[i] = w
	}
	begun := time.Now()
	stop := begun.Add(d)
	taken := make([][]time.Duration, l.clients)
	failures := make(chan error, l.clients)
	var group sync.WaitGroup
	for i, w := range wires {
		group.Go(func() {
			var err error
			if taken[i], err = w.lockUntil(stop, fmt.Sprint("bench:", i)); err != nil {
				failures <- err
			}
		})
	}
	group.Wait()
	lasted := time.Since(begun)
	close(failures)
	for err := range failures {
		return sample{}, err
	}
	return sampleOf(slices.Concat(taken...), lasted), nil
}

// lockUntil takes and gives back a lock until the time is over.
func (w *wire) lockUntil(stop time.Time, key string) (taken []time.Duration, err error) {
	if err := w.limit(stop); err != nil {
		return nil, err
	}
	script := release[1]
	for {
		begun := time.Now()
		if !begun.Before(stop) {
			return taken, nil
		}
		if err := w.do("+OK\r\n", "SET", key, "v", "NX", "PX", "30000"); err != nil {
			return nil, err
		}
		held := time.Now()
		if err := w.do(":1\r\n", "EVAL", script, "1", key, "v"); err != nil {
			return nil, err
		}
		taken = append(taken, held.Sub(begun), time.Since(held))
	}
}
