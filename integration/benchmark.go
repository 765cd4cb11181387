package integration

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Load is one way to run redis-benchmark.
type Load struct {
	Requests int
	Clients  int
	Pipeline int
	// Args are the rest of its command line: -t with names, or one command.
	Args []string
}

// Measurement is what redis-benchmark tells of one command.
type Measurement struct {
	Command       string
	PerSecond     float64
	P50, P99, Max float64 // milliseconds
}

// Benchmark runs redis-benchmark. Replies that are errors are an error.
func Benchmark(addr string, l Load) ([]Measurement, error) {
	port := addr[strings.LastIndexByte(addr, ':')+1:]
	args := []string{"-h", "127.0.0.1", "-p", port, "--csv", "-e", "-r", "1000000",
		"-n", strconv.Itoa(l.Requests), "-c", strconv.Itoa(l.Clients), "-P", strconv.Itoa(l.Pipeline)}
	cmd := Command("redis-benchmark", append(args, l.Args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("redis-benchmark: %w\n%s", err, out)
	}
	if strings.Contains(string(out), "Error") || strings.Contains(string(out), "ERR ") {
		return nil, fmt.Errorf("redis-benchmark met errors:\n%s", out)
	}
	return parseBenchmark(string(out))
}

// parseBenchmark reads the table that --csv prints, after whatever warnings
// stand before it.
func parseBenchmark(out string) ([]Measurement, error) {
	start := strings.Index(out, `"test"`)
	if start < 0 {
		return nil, fmt.Errorf("redis-benchmark printed no table:\n%s", out)
	}
	rows, err := csv.NewReader(strings.NewReader(out[start:])).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("redis-benchmark's table: %w\n%s", err, out)
	}
	head := rows[0]
	var all []Measurement
	for _, row := range rows[1:] {
		m := Measurement{Command: row[0]}
		for column, to := range map[string]*float64{
			"rps": &m.PerSecond, "p50_latency_ms": &m.P50, "p99_latency_ms": &m.P99, "max_latency_ms": &m.Max,
		} {
			i := slices.Index(head, column)
			if i < 0 {
				return nil, fmt.Errorf("redis-benchmark's table has no %s", column)
			}
			if *to, err = strconv.ParseFloat(row[i], 64); err != nil {
				return nil, fmt.Errorf("redis-benchmark's table: %w", err)
			}
		}
		all = append(all, m)
	}
	return all, nil
}
