package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// machine is what a run is to be made on, and whether it does other things.
func machine() string {
	parts := []string{fmt.Sprintf("%d cores", runtime.NumCPU())}
	if model := processor(); model != "" {
		parts[0] += " (" + model + ")"
	}
	parts = append(parts, runtime.GOOS+"/"+runtime.GOARCH, runtime.Version())
	if out, err := exec.Command("redis-server", "--version").Output(); err == nil {
		// Redis server v=7.0.15 sha=… malloc=…
		if _, rest, found := strings.Cut(string(out), "v="); found {
			version, _, _ := strings.Cut(rest, " ")
			parts = append(parts, "Redis "+version)
		}
	}
	if out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		parts = append(parts, "commit "+strings.TrimSpace(string(out)))
	}
	text := strings.Join(parts, ", ") + "; clients, proxy and Redis servers share them, and talk over loopback."
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(load), " ")
		text += " Load average before the run: " + first + "."
	}
	return text
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// ticks are the processors' time since the machine was started.
type ticks struct{ all, stolen float64 }

// muchStolen is the part of that which makes figures worth little if the host of a
// virtual machine gives it to others.
const muchStolen = 0.05

// timeOfMachine is another one in tests.
var timeOfMachine = machineTime

// machineTime is zero where the system does not tell.
func machineTime() ticks {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}
	}
	return parseTicks(string(text))
}

// parseTicks reads what begins with
//
//	cpu user nice system idle iowait irq softirq steal guest guest_nice
//
// where user and nice hold the guests' too.
func parseTicks(stat string) (t ticks) {
	first, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(first)
	if len(fields) < 9 {
		return ticks{}
	}
	for _, field := range fields[1:9] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return ticks{}
		}
		t.all += n
		t.stolen = n // the last of them
	}
	return t
}

// stolenSince is the part of the time since before that others got.
func (t ticks) stolenSince(before ticks) float64 {
	if t.all <= before.all {
		return 0
	}
	return (t.stolen - before.stolen) / (t.all - before.all)
}
