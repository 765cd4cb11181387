package main

import (
	"errors"
	"fmt"
	"time"

	"redlock-proxy/integration"
)

// poll asks for one lock that another client holds.
var poll = []string{"SET", "lock:held", "v", "NX", "PX", "30000"}

func pollTrials() (list []trial) {
	for _, w := range []wanted{{shape{50, 1}, .85, .95}, {shape{50, 16}, .5, .7}} {
		list = append(list, trial{fmt.Sprintf("poll/P%d", w.pipeline), func(b *bench, r *report) error { return pollTrial(b, r, w) }})
	}
	return list
}

func pollTrial(b *bench, r *report, w wanted) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	f := &flood{shape: w.shape, command: poll}
	direct, proxy := h.asked(f.at(h.direct.Addr)), h.through(f.at(h.proxy.Addr))
	direct.prepare, proxy.prepare = hold(h.direct.Addr), hold(h.proxy.Addr)
	before, err := h.attempts()
	if err != nil {
		return err
	}
	processed, err := field(h.proxy.Addr, "stats", "total_commands_processed")
	if err != nil {
		return err
	}
	if err := b.turns(direct, proxy); err != nil {
		return err
	}
	attempts, err := h.attempts()
	if err != nil {
		return err
	}
	asked, err := field(h.proxy.Addr, "stats", "total_commands_processed")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("poll/P%d", w.pipeline)
	note := fmt.Sprintf("a master sees %s attempts for 1000 asked", number(1000*float64(most(before, attempts))/float64(asked-processed)))
	r.add(line{name, fmt.Sprintf("50 clients that poll one held lock, beside direct, P%d", w.pipeline),
		b.goal(w.must, w.aim), proxy.beside(direct, throughput), note})
	r.addFigures(name, direct, proxy)
	return nil
}

// hold has another client take the lock, for longer than a turn.
func hold(addr string) func() error {
	return func() error {
		if err := flush(addr); err != nil {
			return err
		}
		reply, err := ask(addr, "SET", "lock:held", "holder", "NX", "PX", "600000")
		if err == nil && reply != "OK" {
			err = fmt.Errorf("the lock that is to be held is answered %s", reply)
		}
		return err
	}
}

// attempts is how often each master was asked. A master may be spared an
// attempt that the others have decided already.
func (h *house) attempts() ([]int, error) {
	list := make([]int, len(h.masters))
	for i, m := range h.masters {
		var err error
		if list[i], err = calls(m.Addr, "set"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// most is how many attempts the master saw that saw the most.
func most(before, after []int) (n int) {
	for i := range after {
		n = max(n, after[i]-before[i])
	}
	return n
}

// inFlightTrial counts attempts where a round trip takes so long that one
// after the other are few: attempts times round trip, over the time it took,
// is how many were on their way at once. The twentieth more that is allowed is
// for an attempt that was begun before the first turn or ends after it.
func inFlightTrial(b *bench, r *report) (err error) {
	const roundTrip = 10 * time.Millisecond
	h, err := b.house(plan{masters: b.masters, far: roundTrip})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := hold(h.proxy.Addr)(); err != nil {
		return err
	}
	var inFlight []float64
	for range b.rounds {
		before, err := h.attempts()
		if err != nil {
			return err
		}
		load := integration.Load{Requests: 50 * int(b.turn/roundTrip), Clients: 50, Pipeline: 1, Args: poll}
		measured, err := integration.Benchmark(h.proxy.Addr, load)
		if err != nil {
			return err
		}
		lasted := float64(load.Requests) / measured[0].PerSecond
		after, err := h.attempts()
		if err != nil {
			return err
		}
		inFlight = append(inFlight, float64(most(before, after))*roundTrip.Seconds()/lasted)
	}
	r.add(line{"poll/in-flight", "the same: attempts in flight", b.atMost(1.05, 1.05), inFlight, "masters 10 ms away"})
	return nil
}
