package main

import (
	"errors"
	"strconv"
	"time"

	"redlock-proxy/integration"
)

// wakes is a client who waits in line for a lock at one proxy, and another who holds it and frees it through the same or
// another one. What is measured is from when that is answered until the lock is had.
type wakes struct {
	freedAt, waitsAt string
	next             int // of its keys
}

// rests is for how long the one waits before he is woken: he is in line then, and masters tell of the key.
const rests = 10 * time.Millisecond

func (s *wakes) load(d time.Duration) (taken sample, err error) {
	holder, err := dialWire(s.freedAt)
	if err != nil {
		return taken, err
	}
	defer holder.close()
	waiter, err := dialWire(s.waitsAt)
	if err != nil {
		return taken, err
	}
	defer waiter.close()
	begun := time.Now()
	if err := errors.Join(holder.limit(begun.Add(d)), waiter.limit(begun.Add(d))); err != nil {
		return taken, err
	}
	var latencies []time.Duration
	for time.Since(begun) < d {
		s.next++
		key := "wake:" + s.freedAt + ":" + strconv.Itoa(s.next)
		if err := holder.do("+OK\r\n", "SET", key, "h", "NX", "PX", "30000"); err != nil {
			return taken, err
		}
		type waking struct {
			at  time.Time
			err error
		}
		woken := make(chan waking, 1)
		go func() {
			err := waiter.do("+OK\r\n", "SET", key, "w", "NX", "PX", "30000")
			woken <- waking{time.Now(), err}
		}()
		time.Sleep(rests)
		err := holder.do(":1\r\n", "DEL", key)
		freed := time.Now()
		w := <-woken
		if err := errors.Join(err, w.err); err != nil {
			return taken, err
		}
		latencies = append(latencies, max(0, w.at.Sub(freed)))
	}
	return sampleOf(latencies, time.Since(begun)), nil
}

// wakeTrial measures in round trips to masters how late a client who waits for a lock has it.
func wakeTrial(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters, far: far, args: []string{"--acquire-wait", "10m"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	other, err := integration.StartProxy(integration.ProxyOptions{Path: b.program, Args: h.args})
	if err != nil {
		return err
	}
	defer func() {
		_, endErr := other.Terminate(time.Minute)
		err = errors.Join(err, endErr)
	}()
	if err := awaitVoting(other.Addr, b.masters); err != nil {
		return err
	}
	toDirect, err := newDelayLine(h.direct.Addr, far)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, toDirect.close()) }()

	direct := h.asked((&single{addr: toDirect.addr}).load)
	same := h.through((&wakes{freedAt: h.proxy.Addr, waitsAt: h.proxy.Addr}).load)
	another := h.through((&wakes{freedAt: other.Addr, waitsAt: h.proxy.Addr}).load)
	direct.name, same.name, another.name = "direct c1", "woken by its own proxy", "woken by another"
	if err := b.turns(direct, same, another); err != nil {
		return err
	}
	trips := func(s *side) []float64 {
		waits, trip := s.column(latency99), direct.column(medianLatency)
		for i := range waits {
			waits[i] /= trip[i]
		}
		return waits
	}
	r.add(line{"wake", "masters 1 ms away: p99 from a release to who waited for it by `acquire-wait`, in round trips", b.atMost(2, 1.5), trips(same), ""})
	r.add(line{"wake", "the same, released through another proxy", b.atMost(4, 3), trips(another), ""})
	r.addFigures("wake", direct, same, another)
	return nil
}
