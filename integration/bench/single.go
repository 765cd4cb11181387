package main

import (
	"errors"
	"runtime"
	"strconv"
	"time"
)

// single is one client that waits for each reply, and measures to the
// nanosecond what redis-benchmark rounds to eight microseconds.
type single struct {
	addr  string
	apart bool // on a core of its own
	next  int  // of its keys
}

// clientsCore is where a single client is kept that is to be apart; the Redis
// that is asked directly has serversCore then.
const serversCore, clientsCore = 0, 1

func (s *single) load(d time.Duration) (taken sample, err error) {
	if s.apart {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := keepTo(0, clientsCore); err != nil {
			return taken, err
		}
		defer func() { err = errors.Join(err, letGo()) }()
	}
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

func singleTrials() []trial {
	return []trial{
		{"p50/c1", func(b *bench, r *report) error { return b.singleTrial(r, "p50/c1", false) }},
		{"p50/c1-apart", func(b *bench, r *report) error { return b.singleTrial(r, "p50/c1-apart", true) }},
	}
}

// singleTrial: a kernel may run one client and one Redis on one core in turns,
// where a round trip needs no other core to wake up, which nothing with a hop
// between can have. Apart, they are as they would be on two machines: each on
// its core. The proxy and its masters may use all cores either way.
func (b *bench) singleTrial(r *report, name string, apart bool) (err error) {
	h, err := b.house(plan{masters: b.masters})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	measure := "p50 of one client beside direct"
	if apart {
		measure += ", the client on a core of its own"
		if runtime.NumCPU() <= max(serversCore, clientsCore) {
			return errors.New("there is no second core")
		}
		if err := keepTo(h.direct.PID(), serversCore); err != nil {
			return err
		}
	}
	direct := h.asked((&single{addr: h.direct.Addr, apart: apart}).load)
	proxy := h.through((&single{addr: h.proxy.Addr, apart: apart}).load)
	if err := b.turns(direct, proxy); err != nil {
		return err
	}
	r.add(line{name, measure, b.atMost(2.2, 1.8), proxy.beside(direct, medianLatency), ""})
	r.addFigures(name, direct, proxy)
	return nil
}
