//go:build !linux

package clock

import "time"

// BootTime is the monotonic clock here. Where it stops while the machine sleeps,
// all masters seem to have jumped Together afterwards.
func BootTime() time.Duration { return sinceStart() }
