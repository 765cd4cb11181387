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

	batches [quorum.BatchSizes]atomic.Uint64 // by how many commands were in them
	batched atomic.Uint64                    // all these

	// Each debt is counted as owed, once, and in the end as one of the others.
	owed, paid, needless, dropped atomic.Uint64

	quarantines atomic.Uint64
	catchUps    atomic.Uint64
	catchUpKeys atomic.Uint64
}

// countBatch notes that a batch was sent of so many commands. One of none is a look at the
// master, and is not counted.
func (c *counters) countBatch(n int) {
	if n > 0 {
		c.batches[quorum.BatchSize(n)].Add(1)
		c.batched.Add(uint64(n))
	}
}
