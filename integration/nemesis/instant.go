package main

import (
	"time"

	"golang.org/x/sys/unix"

	"redlock-proxy/integration/nemesis/lease"
)

// now reads the clock that all processes of a machine share and that goes on
// while the machine sleeps: histories of several processes are merged by it.
func now() lease.Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err) // Linux has had it since 2.6.39
	}
	return lease.Instant(ts.Nano())
}

// until is the time that is left to an instant.
func until(i lease.Instant) time.Duration { return i.Since(now()) }
