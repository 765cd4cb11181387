package main

import (
	"fmt"
	"strings"
)

// table is how a cost grows with something.
type table struct {
	grows string // what grows
	rows  []growthRow
}

// growthRow is one size of what grows, the two sides measured at it.
type growthRow struct {
	size          string
	direct, proxy *side
}

func (t table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | direct /s | proxy /s | ratio | quartiles | p50 / p99 ms, direct | proxy | proxy: CPU µs / calls | Redis, all: CPU µs / calls |\n"+
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n", t.grows)
	for _, row := range t.rows {
		ratio := quartilesOf(row.proxy.beside(row.direct, throughput))
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %s | %s to %s | %s | %s | %s | %s |\n", row.size,
			quartilesOf(row.direct.column(throughput)).median, quartilesOf(row.proxy.column(throughput)).median,
			number(ratio.median), number(ratio.low), number(ratio.high),
			row.direct.latencies(), row.proxy.latencies(),
			row.proxy.costText(watchedProxy), row.proxy.costText(watchedRedis))
	}
	return b.String()
}

func (s *side) latencies() string {
	return fmt.Sprintf("%.2f / %.2f", 1000*quartilesOf(s.column(medianLatency)).median, 1000*quartilesOf(s.column(latency99)).median)
}
