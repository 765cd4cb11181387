//go:build !unix

package proxy

import (
	"runtime"
	"time"
)

func osText() string { return runtime.GOOS + " " + runtime.GOARCH }

// cpuTimes is not known here.
func cpuTimes() (user, system time.Duration) { return 0, 0 }
