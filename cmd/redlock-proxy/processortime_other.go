//go:build !unix

package main

import "time"

// processorTime is not known here: only what is in flight tells how much there is to do.
func processorTime() time.Duration { return 0 }
