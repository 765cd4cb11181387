package engine

import (
	"sync/atomic"

	"redlock-proxy/quorum"
)

// counters are what one goroutine counts, mostly for itself, so that counting
// does not make two cores share a cache line.
type counters struct {
	votes   [quorum.Withheld + 1]atomic.Uint64
	unasked atomic.Uint64 // votes that the master was not asked for
	undos   atomic.Uint64
	missed  atomic.Uint64 // undos that could not be
	heals   atomic.Uint64

	// Each debt is counted as owed, once, and in the end as one of the others.
	owed, paid, needless, dropped atomic.Uint64

	quarantines atomic.Uint64
	catchUps    atomic.Uint64
	catchUpKeys atomic.Uint64
}
