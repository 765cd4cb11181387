package proxy

import (
	"sync/atomic"
	"time"
)

// LatencyBounds are up to where the times are that Latency tells apart.
var LatencyBounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second,
}

// Latency is how long requests of one kind took, from when their command was read until all
// that it had asked for was decided.
type Latency struct {
	Counts [len(LatencyBounds) + 1]uint64 // up to each bound and over the one before it; the last: longer
	Sum    time.Duration
}

// durations is a Latency as it is counted. It fills two cache lines, has none in common with
// another kind's, and what is quick is counted in the first.
type durations struct {
	sum    atomic.Int64 // nanoseconds
	counts [len(LatencyBounds) + 1]atomic.Uint64
	_      [8]byte
}

func (d *durations) add(took time.Duration) {
	i := 0
	for i < len(LatencyBounds) && took > LatencyBounds[i] {
		i++
	}
	d.counts[i].Add(1)
	d.sum.Add(int64(took))
}

// picture is read count by count, so that Sum may be of some more.
func (d *durations) picture() (p Latency) {
	for i := range d.counts {
		p.Counts[i] = d.counts[i].Load()
	}
	p.Sum = time.Duration(d.sum.Load())
	return p
}

// noteDecided counts the requests of a slot, all of which are decided.
func (s *slot) noteDecided(now time.Duration) {
	for i := range s.asks {
		s.conn.srv.stats.latencies[s.asks[i].request.Kind].add(now - s.begun)
	}
}
