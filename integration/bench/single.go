package main

import (
	"errors"
	"strconv"
	"time"
)

// single is one client that waits for each reply, and measures to the
// nanosecond what redis-benchmark rounds to eight microseconds.
type single struct {
	addr string
	next int // of its keys
}

func (s *single) load(d time.Duration) (taken sample, err error) {
	c, err := dialBlocking(s.addr)
	if err != nil {
		return taken, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var latencies []time.Duration
	begun := time.Now()
	for now := begun; now.Sub(begun) < d; {
		s.next++
		if err := c.do("+OK\r\n", "SET", "single:"+strconv.Itoa(s.next), "v", "NX", "PX", "30000"); err != nil {
			return taken, err
		}
		then := time.Now()
		latencies = append(latencies, then.Sub(now))
		now = then
	}
	return sampleOf(latencies, time.Since(begun)), nil
}

func firstByteTrial(b *bench, r *report) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	direct := h.asked((&single{addr: h.direct.Addr}).load)
	proxy := h.through((&single{addr: h.proxy.Addr}).load)
	if err := b.turns(direct, proxy); err != nil {
		return err
	}
	r.add(line{"p50/c1", "p50 of one client beside direct", b.atMost(2.2, 1.8), proxy.beside(direct, medianLatency), ""})
	r.addFigures("p50/c1", direct, proxy)
	return nil
}
