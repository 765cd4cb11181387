package quorum

import "sync/atomic"

// counters are what one goroutine counts, mostly for itself, so that counting
// does not make two cores share a cache line.
type counters struct {
	votes   [Withheld + 1]atomic.Uint64
	undos   atomic.Uint64
	heals   atomic.Uint64
	owed    atomic.Uint64
	paid    atomic.Uint64
	dropped atomic.Uint64

	quarantines atomic.Uint64
	catchUps    atomic.Uint64
	catchUpKeys atomic.Uint64
}
