package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func goroutines(t *testing.T, p *Proxy) int {
	t.Helper()
	c := dial(t, p.Addr)
	defer c.Close()
	_, rest, ok := strings.Cut(c.text("INFO", "memory"), "goroutines:")
	number, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		t.Fatalf("INFO tells no goroutines: %v", err)
	}
	return n
}

// TestBenchmarkRunsWithoutErrorsOrGrowth runs with all masters, then with one frozen.
func TestBenchmarkRunsWithoutErrorsOrGrowth(t *testing.T) {
	// 800 commands in flight on a machine that is busy with other things may take longer than what
	// is waited for elsewhere, and the benchmark ends at the first error.
	masters, p := startQuorum(t, 3, "--acquire-timeout", "20s", "--master-timeout", "10s")
	loads := []Load{
		{Requests: 10_000, Clients: 50, Pipeline: 1, Args: []string{"SET", "lock:__rand_int__", "v", "NX", "PX", "30000"}},
		{Requests: 30_000, Clients: 50, Pipeline: 16, Args: []string{"SET", "lock:__rand_int__", "v", "NX", "PX", "30000"}},
		{Requests: 10_000, Clients: 50, Pipeline: 16, Args: []string{"-t", "ping,set,get"}},
	}
	before := goroutines(t, p)
	for _, frozen := range []bool{false, true} {
		if frozen {
			must(t, masters[1].Freeze())
		}
		for _, load := range loads {
			measured, err := Benchmark(p.Addr, load)
			must(t, err)
			for _, m := range measured {
				t.Logf("frozen: %v, c%d P%d %s: %.0f a second, p50 %.2f ms, p99 %.2f ms, max %.0f ms",
					frozen, load.Clients, load.Pipeline, m.Command, m.PerSecond, m.P50, m.P99, m.Max)
			}
		}
		eventually(t, func() error {
			if n := goroutines(t, p); n > before+10 {
				return fmt.Errorf("%d goroutines, and %d before the load", n, before)
			}
			return nil
		})
	}
	wantSmall(t, p.Child, 400<<20)
	must(t, masters[1].Thaw())
	awaitVoting(t, p, 3)
}

// TestClientsThatCameAndWentLeaveNothing: neither goroutines nor their places
// among max-clients.
func TestClientsThatCameAndWentLeaveNothing(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	before := goroutines(t, p)
	for i := range 300 {
		c := dial(t, p.Addr)
		switch i % 3 {
		case 0:
			c.lock(fmt.Sprint("k", i), "t", ttl)
		case 1:
			c.send(acquireArgs(fmt.Sprint("k", i), "t", ttl)...)
		}
		c.Close()
	}
	eventually(t, func() error {
		if n := goroutines(t, p); n > before+5 {
			return fmt.Errorf("%d goroutines, and %d before", n, before)
		}
		return nil
	})
}
