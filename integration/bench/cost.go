package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"redlock-proxy/integration"
)

// watched is processes whose cost is told together.
type watched struct {
	name string
	pids []int
}

func watch(name string, children ...*integration.Child) watched {
	w := watched{name: name}
	for _, c := range children {
		w.pids = append(w.pids, c.PID())
	}
	return w
}

// cost is what processes have spent.
type cost struct {
	cpu   time.Duration
	calls int // reads and writes
}

func (c cost) less(before cost) cost { return cost{c.cpu - before.cpu, c.calls - before.calls} }

func (w watched) spent() (total cost, err error) {
	for _, pid := range w.pids {
		cpu, err := processorTime(pid)
		if err != nil {
			return total, err
		}
		calls, err := readsAndWrites(pid)
		if err != nil {
			return total, err
		}
		total.cpu += cpu
		total.calls += calls
	}
	return total, nil
}

// tick is the unit of the kernel's books.
const tick = 10 * time.Millisecond

func processorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may hold blanks; utime and stime are the 12th
	// and 13th field after it.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

func readsAndWrites(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	total, seen := 0, 0
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name != "syscr" && name != "syscw" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return 0, err
		}
		total += n
		seen++
	}
	if seen != 2 {
		return 0, fmt.Errorf("/proc/%d/io tells no reads and writes", pid)
	}
	return total, nil
}
