//go:build unix

package proxy

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// osText is what uname says, as Redis shows it, where the kernel says it in a file.
func osText() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS + " " + runtime.GOARCH
	}
	return "Linux " + strings.TrimSpace(string(release)) + " " + runtime.GOARCH
}

// cpuTimes is what the process has used.
func cpuTimes() (user, system time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}
