package main

import (
	"testing"
	"time"
)

// What redis-benchmark 7.0 prints, shortened.
const printed = `====== SET lock:__rand_int__ v NX PX 30000 ======
  20000 requests completed in 0.58 seconds
  50 parallel clients
  host configuration "save": 
  multi-thread: no

Latency by percentile distribution:
0.000% <= 0.119 milliseconds (cumulative count 1)
50.000% <= 0.727 milliseconds (cumulative count 10039)
99.805% <= 1.759 milliseconds (cumulative count 19961)
99.902% <= 1.871 milliseconds (cumulative count 19981)
100.000% <= 2.711 milliseconds (cumulative count 20000)

Cumulative distribution of latencies:
0.000% <= 0.103 milliseconds (cumulative count 0)

Summary:
  throughput summary: 34423.41 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        0.738     0.120     0.727     1.263     1.439     2.711
`

func TestSummaryIsRead(t *testing.T) {
	got, err := parseFlood(printed)
	if err != nil {
		t.Fatal(err)
	}
	if got.perSecond != 34423.41 || got.p50 != 727*time.Microsecond || got.p99 != 1439*time.Microsecond || got.p999 != 1871*time.Microsecond {
		t.Errorf("got %+v", got)
	}
	for _, cut := range []int{0, 100, 400, len(printed) - 70} {
		if got, err := parseFlood(printed[:cut]); err == nil {
			t.Errorf("of the first %d bytes is made %+v", cut, got)
		}
	}
}

// TestBothSidesGetAsManyRequests: as many as the slower one can take in a turn.
func TestBothSidesGetAsManyRequests(t *testing.T) {
	f := flood{shape: shape{50, 16}, rates: map[string]float64{"a": 100_000, "b": 300_000}}
	if n := f.requests(time.Second); n != 100_000 {
		t.Errorf("%d requests in a second", n)
	}
	if n := f.requests(time.Millisecond); n != 8000 {
		t.Errorf("%d requests in a millisecond, want ten full pipelines of each client", n)
	}
	f.most = 500
	if n := f.requests(time.Second); n != 500 {
		t.Errorf("%d requests, want no more than 500", n)
	}
}
