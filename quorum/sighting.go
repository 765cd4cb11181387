package quorum

import "time"

// A master's keys expire by its wall clock, and a wall clock can be set. How it
// runs beside ours is seen in every batch. All of it is pure.

var started = time.Now()

func sinceStart() time.Duration { return time.Since(started) }

// sighting is one look at a master's clock: it showed the Unix time at somewhen
// between sent and read by our own clock.
type sighting struct{ at, sent, read time.Duration }

// moved is by how much the master's clock has certainly moved against ours from s
// to a later sighting, beyond what drift allows: forward is positive. 0 is a clock
// that runs true as far as can be told. The round trips are allowed for, as neither
// look is more exact than its own.
func (s sighting) moved(later sighting) time.Duration {
	slack := drift(later.read - s.sent)
	// The difference of the clocks was between these two, and then later ones.
	least, most := s.at-s.read, s.at-s.sent
	if by := later.at - later.read - most; by > slack {
		return by
	}
	if by := later.at - later.sent - least; by < -slack {
		return by
	}
	return 0
}

// next is the sighting that the following one is compared with: the sharper of
// two, but not for longer than a while, since what drift allows grows with time.
// It does not follow every batch: a clock that is set by a little at a time would
// never be found out.
func (s sighting) next(later sighting, while time.Duration) sighting {
	if later.read-later.sent < s.read-s.sent || later.read-s.read >= while {
		return later
	}
	return s
}

// together tells whether so many of the masters' clocks seem to have jumped alike
// that it may have been ours: jumps are by how much each has, 0 if it has not.
func together(jumps []time.Duration, quorum int) bool {
	for _, by := range jumps {
		alike := 0
		for _, other := range jumps {
			if other != 0 && (other-by).Abs() <= drift(by.Abs())+alikeWithin {
				alike++
			}
		}
		if by != 0 && alike >= quorum {
			return true
		}
	}
	return false
}

// alikeWithin is how exactly a jump is known: the round trips of both sightings.
const alikeWithin = 100 * time.Millisecond
