package integration

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// residentBytes is the memory that a process occupies.
func residentBytes(t *testing.T, c *Child) int {
	t.Helper()
	size, err := ResidentBytes(c.PID())
	must(t, err)
	return size
}

// wantSmall holds a process to a size. The race detector takes a multiple.
func wantSmall(t *testing.T, c *Child, most int) {
	t.Helper()
	if raceEnabled {
		most *= 6
	}
	if size := residentBytes(t, c); size > most {
		t.Errorf("the process has grown to %d MiB, want at most %d", size>>20, most>>20)
	}
}

// processorTime is what a process has spent on all cores, in clock ticks'
// resolution (10 ms).
func processorTime(t *testing.T, c *Child) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.PID()))
	must(t, err)
	// The name, in parentheses, may hold blanks; utime and stime are the 12th
	// and 13th field after it.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		must(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
