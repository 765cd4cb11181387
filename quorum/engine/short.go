package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// leastTTL is what a client is told to ask for at least where its ttl was too short, with
// masters however near: half of it is the time in which the proxy, the machine and the
// masters may each be late once.
const leastTTL = 10 * time.Millisecond

// tooShort tells, of a request that nobody decided within its patience, whether it is its
// ttl that gave it too little: the shortest that can be relied on to be granted, or 0 if
// that is not longer, or the masters are to blame.
func (db *database) tooShort(patience time.Duration) (shortest time.Duration) {
	if patience >= db.AcquireTimeout {
		return 0 // no ttl has cut it
	}
	if shortest = db.shortestTTL(time.Now()); shortest <= 2*patience {
		return 0
	}
	return shortest
}

// shortestTTL is twice what a quorum of the masters takes for a batch at its best, and as
// much again, in whole milliseconds; 0 where no quorum answers. What it takes in bad times
// says nothing of a ttl: that is NOQUORUM.
func (db *database) shortestTTL(now time.Time) time.Duration {
	var near []time.Duration
	for _, l := range db.lanes {
		if took, ok := l.prompt(now); ok {
			near = append(near, took)
		}
	}
	q := quorum.QuorumOf(len(db.lanes))
	if len(near) < q {
		return 0
	}
	slices.Sort(near)
	return max(time.Duration(clock.Milliseconds(4*near[q-1]))*time.Millisecond, leastTTL)
}

// prompt tells how long the master takes for a batch at least, and whether it votes and has
// not left one unanswered for as long as a decision may take.
func (l *lane) prompt(now time.Time) (took time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok = l.open && !l.silent() && (len(l.queue.flying) == 0 || l.queue.flying[0].began.IsZero() || now.Sub(l.queue.flying[0].began) < l.db.AcquireTimeout)
	return l.nearest, ok
}
