package main

import (
	"fmt"
	"slices"

	"redlock-proxy/integration"
)

// compare runs every load in turns, direct, proxy, proxy, direct and so on, so
// that what else the machine does falls on both.
func compare(h *house, o options) error {
	fmt.Println("| load | command | direct /s | proxy /s | ratio | direct p50 / p99 ms | proxy p50 / p99 ms |")
	fmt.Println("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
	for _, load := range loads(o.requests) {
		var direct, proxy [][]integration.Measurement
		for round := range o.rounds {
			for turn := range 2 {
				if err := h.blank(o.frozen); err != nil {
					return err
				}
				addr, to := h.direct.Addr, &direct
				if (round+turn)%2 == 1 {
					addr, to = h.proxy.Addr, &proxy
				}
				m, err := integration.Benchmark(addr, load)
				if err != nil {
					return err
				}
				*to = append(*to, m)
			}
		}
		for i := range direct[0] {
			d, p := middle(direct, i), middle(proxy, i)
			fmt.Printf("| c%d P%d | `%s` | %.0f | %.0f | %.2f | %.3f / %.3f | %.3f / %.3f |\n",
				load.Clients, load.Pipeline, d.Command, d.PerSecond, p.PerSecond, p.PerSecond/d.PerSecond,
				d.P50, d.P99, p.P50, p.P99)
		}
	}
	return nil
}

func loads(requests int) []integration.Load {
	acquire := []string{"SET", "lock:__rand_int__", "v", "NX", "PX", "30000"}
	several := []string{"-t", "ping,set,get"}
	return []integration.Load{
		{Requests: requests / 10, Clients: 1, Pipeline: 1, Args: acquire},
		{Requests: requests, Clients: 50, Pipeline: 1, Args: acquire},
		{Requests: requests, Clients: 50, Pipeline: 16, Args: acquire},
		{Requests: requests, Clients: 50, Pipeline: 1, Args: several},
		{Requests: requests, Clients: 50, Pipeline: 16, Args: several},
	}
}

// middle takes each column's median over the rounds.
func middle(rounds [][]integration.Measurement, i int) integration.Measurement {
	m := integration.Measurement{Command: rounds[0][i].Command}
	column := func(of func(integration.Measurement) float64) float64 {
		var values []float64
		for _, round := range rounds {
			values = append(values, of(round[i]))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	m.PerSecond = column(func(m integration.Measurement) float64 { return m.PerSecond })
	m.P50 = column(func(m integration.Measurement) float64 { return m.P50 })
	m.P99 = column(func(m integration.Measurement) float64 { return m.P99 })
	m.Max = column(func(m integration.Measurement) float64 { return m.Max })
	return m
}
