package main

import (
	"os"
	"strconv"
	"strings"
)

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
