package clock

import (
	"slices"
	"sync/atomic"
	"time"
)

// The time of day is what a quorum of the masters' clocks agree on. A minority may be an
// hour off for ever: what a master's clock shows when it is first seen is no jump. Our own
// wall clock is asked by nobody, as it may be off as well, and other proxies have others.

const (
	// AlikeClocks is by how much clocks that agree may differ. Those of machines that ask
	// one another for the time do by milliseconds.
	AlikeClocks = time.Second

	// CarriedOn is how long a master that is away still counts, its clock being carried on
	// by ours: what drift allows makes no more than half of AlikeClocks of it by then. That
	// its clock may be set meanwhile does not matter: it has told the time as of then.
	CarriedOn = 50 * time.Second

	// leastLater is by how much the time may be before what was told already: clocks that
	// agree may be told by others of them each time. It all but stands still then. Any more, and it
	// was wrong, or is: a lock that is to end at a time of day would end too early by that.
	leastLater = 2 * AlikeClocks
)

// TimeOfDay is the median of those clocks that lie within a second of each other, most of all
// that do; known tells that they are a quorum. It sorts them.
func TimeOfDay(clocks []time.Duration, quorum int) (median time.Duration, known bool) {
	slices.Sort(clocks)
	most := 0
	for i, first := range clocks {
		n := 0
		for i+n < len(clocks) && clocks[i+n]-first <= AlikeClocks {
			n++
		}
		if n > most {
			most, median = n, (clocks[i+(n-1)/2]-first+clocks[i+n/2]-first)/2+first
		}
	}
	return median, most >= quorum
}

// ToldTime is the latest time of day that was told to anybody, in nanoseconds.
type ToldTime struct{ at atomic.Int64 }

// Tell tells a time, or one next to what was told already if that is no earlier, or a little later. It
// is not known if that is much later. No microsecond is told twice: what is chosen by it is another each time.
func (t *ToldTime) Tell(now time.Duration) (time.Duration, bool) {
	for {
		last := time.Duration(t.at.Load())
		if last-now > leastLater {
			return last, false
		}
		next := max(now, last+time.Microsecond)
		if t.at.CompareAndSwap(int64(last), int64(next)) {
			return next, true
		}
	}
}
