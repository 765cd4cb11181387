package main

import (
	"testing"
	"time"

	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

func TestQuantilesAreWithinTheirBounds(t *testing.T) {
	var l proxy.Latency
	if got := quantile(&l, .5); got != proxy.LatencyBounds[len(proxy.LatencyBounds)-1] && got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	l.Counts[1], l.Counts[3] = 98, 2 // up to 250 us, and up to 1 ms
	for q, want := range map[float64][2]time.Duration{
		.5: {100 * time.Microsecond, 250 * time.Microsecond}, .99: {500 * time.Microsecond, time.Millisecond},
	} {
		if got := quantile(&l, q); got < want[0] || got > want[1] {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	l.Counts[len(l.Counts)-1] = 1000
	if got := quantile(&l, .99); got != time.Second {
		t.Errorf("over the last bound: %v", got)
	}
}

// TestLatenciesAreThoseOfTheLastMinute: what was before is not among them.
func TestLatenciesAreThoseOfTheLastMinute(t *testing.T) {
	var l latencies
	var counts [quorum.Survey + 1]proxy.Latency
	now := time.Unix(0, 0)
	counts[quorum.Acquire].Counts[12] = 1000 // slow ones, long ago
	for range 200 {
		counts[quorum.Acquire].Counts[0]++
		now = now.Add(time.Second)
		l.since(now, counts)
	}
	lately := l.since(now, counts)
	if n := total(&lately[quorum.Acquire]); n < 60 || n > 75 {
		t.Errorf("%d in the last minute", n)
	}
	if list := latencyOf(lately); len(list) != 1 || list[0].Kind != "acquire" || time.Duration(list[0].P99) > 100*time.Microsecond {
		t.Errorf("%+v", list)
	}
	if len(l.taken) > 8 {
		t.Errorf("%d samples are kept", len(l.taken))
	}
}
