package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/integration"
)

// shape is how many clients send how much at once.
type shape struct{ clients, pipeline int }

func (s shape) String() string { return fmt.Sprintf("c%d P%d", s.clients, s.pipeline) }

// name is the shape as a part of a trial's name.
func (s shape) name() string { return fmt.Sprintf("c%d-P%d", s.clients, s.pipeline) }

// flood is one command that redis-benchmark sends, to each of the sides of a
// trial as often.
type flood struct {
	shape
	command []string
	keys    int // __rand_int__ is below it; 0 means keys enough that few meet
	most    int // requests a turn; 0 means as many as there is time for

	rates map[string]float64 // requests a second, by the side's address
}

// slowest is the rate of the slower side, 0 while nothing is known.
func (f *flood) slowest() (least float64) {
	for _, rate := range f.rates {
		if least == 0 || rate < least {
			least = rate
		}
	}
	return least
}

const manyKeys = 1_000_000

// requests is how many take d on the slower side. Before anything is known it
// is enough to find out.
func (f *flood) requests(d time.Duration) int {
	n := max(2000, 20*f.clients*f.pipeline)
	if rate := f.slowest(); rate > 0 {
		n = max(int(rate*d.Seconds()), 10*f.clients*f.pipeline)
	}
	if f.most > 0 {
		n = min(n, f.most)
	}
	return n
}

// at is the load of the side that listens there. Further arguments are
// redis-benchmark's.
func (f *flood) at(addr string, args ...string) func(time.Duration) (sample, error) {
	runs := 0
	if f.rates == nil {
		f.rates = make(map[string]float64)
	}
	return func(d time.Duration) (sample, error) {
		n := f.requests(d)
		keys := f.keys
		if keys == 0 {
			keys = manyKeys
		}
		port := addr[strings.LastIndexByte(addr, ':')+1:]
		all := append([]string{"-h", "127.0.0.1", "-p", port, "--precision", "3", "-r", strconv.Itoa(keys),
			"-n", strconv.Itoa(n), "-c", strconv.Itoa(f.clients), "-P", strconv.Itoa(f.pipeline)}, args...)
		out, err := integration.Command("redis-benchmark", append(all, f.command...)...).CombinedOutput()
		// It ends at the first error reply, after lines of how far it had come.
		if _, text, found := strings.Cut(string(out), "Error from server: "); found {
			text, _, _ = strings.Cut(text, "\n")
			return sample{}, fmt.Errorf("redis-benchmark is answered %s", text)
		}
		if err != nil {
			return sample{}, fmt.Errorf("redis-benchmark: %w\n%s", err, out)
		}
		taken, err := parseFlood(string(out))
		taken.operations = n
		if runs++; err == nil && runs <= warmUps {
			f.rates[addr] = taken.perSecond
		}
		return taken, err
	}
}

// parseFlood reads what redis-benchmark prints of one command.
func parseFlood(out string) (taken sample, err error) {
	_, summary, found := strings.Cut(out, "throughput summary: ")
	if !found {
		return taken, fmt.Errorf("redis-benchmark printed no summary:\n%s", out)
	}
	if taken.perSecond, err = strconv.ParseFloat(strings.Fields(summary)[0], 64); err != nil {
		return taken, err
	}
	_, table, _ := strings.Cut(summary, "max\n")
	fields := strings.Fields(table)
	if len(fields) < 6 {
		return taken, fmt.Errorf("redis-benchmark printed no latencies:\n%s", out)
	}
	// avg, min, p50, p95, p99, max
	if taken.p50, err = milliseconds(fields[2]); err != nil {
		return taken, err
	}
	if taken.p99, err = milliseconds(fields[4]); err != nil {
		return taken, err
	}
	taken.p999, err = thousandth(out)
	return taken, err
}

// thousandth is the latency at the first percentile listed from 99.9 on.
func thousandth(out string) (time.Duration, error) {
	_, list, _ := strings.Cut(out, "Latency by percentile distribution:\n")
	for line := range strings.Lines(list) {
		percent, rest, ok := strings.Cut(line, "% <= ")
		if !ok {
			break
		}
		p, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err != nil {
			return 0, err
		}
		if p >= 99.9 {
			value, _, _ := strings.Cut(rest, " ")
			return milliseconds(value)
		}
	}
	return 0, fmt.Errorf("redis-benchmark listed no 99.9th percentile:\n%s", out)
}

func milliseconds(text string) (time.Duration, error) {
	v, err := strconv.ParseFloat(text, 64)
	return time.Duration(v * float64(time.Millisecond)), err
}
