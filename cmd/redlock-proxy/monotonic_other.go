//go:build !linux

package main

import "time"

// monotonic is of use to systemd alone.
func monotonic() time.Duration { return 0 }
