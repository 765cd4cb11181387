package main

import (
	"time"

	"redlock-proxy/proxy"
	"redlock-proxy/proxy/page"
	"redlock-proxy/quorum"
)

// latencies tells how long requests took in the last minute, from what was counted since the start.
type latencies struct {
	taken []latencySample // the oldest first
}

type latencySample struct {
	at     time.Time
	counts [quorum.Survey + 1]proxy.Latency
}

const (
	sampleEvery = 10 * time.Second
	sampled     = time.Minute
)

// since gives the counts of the last minute or so, of which it is asked at least every few seconds.
func (l *latencies) since(now time.Time, counts [quorum.Survey + 1]proxy.Latency) [quorum.Survey + 1]proxy.Latency {
	for len(l.taken) > 1 && now.Sub(l.taken[1].at) >= sampled {
		l.taken = l.taken[1:]
	}
	if n := len(l.taken); n == 0 || now.Sub(l.taken[n-1].at) >= sampleEvery {
		l.taken = append(l.taken, latencySample{now, counts})
	}
	before := l.taken[0].counts
	if len(l.taken) == 1 {
		before = [quorum.Survey + 1]proxy.Latency{} // all that there was
	}
	for kind := range counts {
		for i := range counts[kind].Counts {
			counts[kind].Counts[i] -= before[kind].Counts[i]
		}
	}
	return counts
}

// latencyOf is what the page shows of them: of the kinds of which there were any.
func latencyOf(counts [quorum.Survey + 1]proxy.Latency) (list []page.Latency) {
	for kind := quorum.Acquire; kind <= quorum.Survey; kind++ {
		c := &counts[kind]
		if total(c) > 0 {
			list = append(list, page.Latency{Kind: kind.String(), P50: page.Millis(quantile(c, .5)), P99: page.Millis(quantile(c, .99))})
		}
	}
	return list
}

func total(l *proxy.Latency) (n uint64) {
	for _, c := range l.Counts {
		n += c
	}
	return n
}

// quantile is as exact as the bounds are close to each other: between two of them it takes what
// took so long to be spread evenly. What is over the last one is told as that.
func quantile(l *proxy.Latency, q float64) time.Duration {
	rank := q * float64(total(l))
	below, least := 0.0, time.Duration(0)
	for i, bound := range proxy.LatencyBounds {
		n := float64(l.Counts[i])
		if n > 0 && below+n >= rank {
			return least + time.Duration((rank-below)/n*float64(bound-least))
		}
		below, least = below+n, bound
	}
	return least
}
