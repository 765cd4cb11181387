package quorum

import (
	"slices"
	"time"
)

// elapsed is the engine's clock.
func (e *Engine) elapsed() time.Duration { return time.Since(e.start) }

// clock is the median of the masters' clocks as far as they are known.
func (e *Engine) clock() (now time.Time, known bool) {
	median, known := e.medianClock()
	if !known {
		return time.Now(), false
	}
	return time.UnixMicro(median).Add(e.elapsed()), true
}

// medianClock is that median as it was when the engine started, in microseconds.
func (e *Engine) medianClock() (median int64, known bool) {
	var clocks []int64
	for _, l := range e.lanes {
		if c := l.clock.Load(); c != 0 {
			clocks = append(clocks, c)
		}
	}
	if len(clocks) == 0 {
		return 0, false
	}
	slices.Sort(clocks)
	return clocks[len(clocks)/2], true
}

// Now is the time by the masters' clocks: their median, carried on by the
// engine's own monotonic clock. Before any master has answered it is the
// proxy's.
func (e *Engine) Now() time.Time {
	now, _ := e.clock()
	return now
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
