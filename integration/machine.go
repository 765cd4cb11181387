package integration

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine tells what a run is made on, and whether that does other things.
func Machine() string {
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
