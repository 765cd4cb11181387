package integration

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ResidentBytes is the memory that a process occupies, as Linux counts it.
func ResidentBytes(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}
