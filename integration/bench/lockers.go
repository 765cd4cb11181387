package main

import (
	"errors"
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
	taken, lasted, err := atOnce(l.addr, l.clients, func(i int, w *wire, begun time.Time) ([]time.Duration, error) {
		return w.lockUntil(begun.Add(d), fmt.Sprint("bench:", i))
	})
	if err != nil {
		return sample{}, err
	}
	return sampleOf(slices.Concat(taken...), lasted), nil
}

// atOnce has so many clients do something at once, each on a connection of its own, and gives the latencies of each.
func atOnce(addr string, clients int, do func(i int, w *wire, begun time.Time) ([]time.Duration, error)) (taken [][]time.Duration, lasted time.Duration, err error) {
	wires := make([]*wire, clients)
	for i := range wires {
		w, err := dialWire(addr)
		if err != nil {
			return nil, 0, err
		}
		defer w.close()
		wires[i] = w
	}
	begun := time.Now()
	taken = make([][]time.Duration, clients)
	failures := make([]error, clients)
	var group sync.WaitGroup
	for i, w := range wires {
		group.Go(func() { taken[i], failures[i] = do(i, w, begun) })
	}
	group.Wait()
	return taken, time.Since(begun), errors.Join(failures...)
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
