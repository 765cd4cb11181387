package integration

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ResidentBytes is the memory that a process occupies, as Linux counts it.
func ResidentBytes(pid int) (int, error) { return statusBytes(pid, "VmRSS") }

// PeakResidentBytes is the most that it has occupied since it was started, or since
// ForgetPeak.
func PeakResidentBytes(pid int) (int, error) { return statusBytes(pid, "VmHWM") }

// ForgetPeak has PeakResidentBytes begin anew.
func ForgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

func statusBytes(pid int, name string) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %d has no %s", pid, name)
}
