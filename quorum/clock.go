package quorum

import (
	"slices"
	"sync/atomic"
	"time"
)

// The time of day is what a quorum of the masters' clocks agree on. A minority may be an
// hour off for ever: what a master's clock shows when it is first seen is no jump. Our own
// wall clock is asked by nobody, as it may be off as well, and other proxies have others.

const (
	// alikeClocks is by how much clocks that agree may differ. Those of machines that ask
	// one another for the time do by milliseconds.
	alikeClocks = time.Second

	// carriedOn is how long a master that is away still counts, its clock being carried on
	// by ours: what drift allows makes no more than half of alikeClocks of it by then. That
	// its clock may be set meanwhile does not matter: it has told the time as of then.
	carriedOn = 50 * time.Second

	// leastLater is by how much the time may be before what was told already: clocks that
	// agree may be told by others of them each time. It stands still then. Any more, and it
	// was wrong, or is: a lock that is to end at a time of day would end too early by that.
	leastLater = 2 * alikeClocks
)

// Now is the time of day by the masters' clocks. It is not known while no quorum of them
// agrees on it, and never before what it was. Two proxies may tell times that lie two
// seconds apart. With one master it is that one's.
func (e *Engine) Now() (now time.Time, known bool) {
	var room [MaxMasters]time.Duration
	boot := e.boot()
	ahead, known := timeOfDay(e.clocks(room[:0], boot), quorumOf(len(e.lanes)))
	if !known {
		return now, false
	}
	at, known := e.trusts().told.tell(boot + ahead)
	return time.Unix(0, int64(at)), known
}

// clocks appends by how much the clocks of the masters are ahead of ours that were seen
// lately.
func (e *Engine) clocks(list []time.Duration, boot time.Duration) []time.Duration {
	for _, l := range e.lanes {
		if ahead, known := l.ahead(); known && boot-time.Duration(l.clockSeen.Load()) <= carriedOn {
			list = append(list, ahead)
		}
	}
	return list
}

// ahead is by how much the master's clock was ahead of ours when it was last seen.
func (l *lane) ahead() (by time.Duration, known bool) {
	known = l.clockSeen.Load() != 0 // first, as it is told last
	return time.Duration(l.clock.Load()), known
}

// timeOfDay is the median of those clocks that lie within alikeClocks of each other, if that
// is a quorum. It sorts them.
func timeOfDay(clocks []time.Duration, quorum int) (median time.Duration, known bool) {
	slices.Sort(clocks)
	most := 0
	for i, first := range clocks {
		n := 0
		for i+n < len(clocks) && clocks[i+n]-first <= alikeClocks {
			n++
		}
		if n > most {
			most, median = n, (clocks[i+(n-1)/2]-first+clocks[i+n/2]-first)/2+first
		}
	}
	return median, most >= quorum
}

// toldTime is the latest time of day that was told to anybody, in nanoseconds.
type toldTime struct{ at atomic.Int64 }

// tell tells a time, or what was told already if that is a little later. It is not known
// if that is much later.
func (t *toldTime) tell(now time.Duration) (time.Duration, bool) {
	for {
		last := time.Duration(t.at.Load())
		if now < last {
			return last, last-now <= leastLater
		}
		if t.at.CompareAndSwap(int64(last), int64(now)) {
			return now, true
		}
	}
}

// sleepNoticed is how long this machine must have slept for the engine to care.
const sleepNoticed = 20 * time.Millisecond

// noticeSleep finds out, by a look at both of our clocks, that the machine slept:
// one of them stood still then.
func (e *Engine) noticeSleep(boot time.Duration, now time.Time) {
	apart := int64(boot - now.Sub(e.start))
	before := e.apart.Load()
	if apart-before > int64(sleepNoticed) && e.apart.CompareAndSwap(before, apart) {
		e.sleeps.Add(1)
	}
}
