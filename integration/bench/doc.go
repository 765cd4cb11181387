// Command bench measures the proxy beside one redis-server that is asked
// directly, on the same machine and in turns, and prints Markdown tables:
// throughput and latency by redis-benchmark, and what idle connections cost.
//
//	go run ./integration/bench            about three minutes
//	go run ./integration/bench -short     half a minute, rougher
//	go run ./integration/bench -frozen    with one of the masters frozen
//
// Its numbers say how the two compare; on a machine that does other things at
// the same time they say nothing else.
package main
