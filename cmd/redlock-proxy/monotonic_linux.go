package main

import (
	"syscall"
	"time"
	"unsafe"
)

// monotonic is CLOCK_MONOTONIC, which systemd compares with its own. Go's
// clock is the same one, but Go does not tell what it shows.
func monotonic() time.Duration {
	const clockMonotonic = 1
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}
