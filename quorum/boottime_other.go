//go:build !linux

package quorum

import "time"

// bootTime is the monotonic clock here. Where it stops while the machine sleeps,
// all masters seem to have jumped together afterwards.
func bootTime() time.Duration { return sinceStart() }
