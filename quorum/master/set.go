package master

import (
	"slices"
	"time"

	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// Set is the masters that are used together, on which terms, and how long what is asked of
// them may take. Every duration must be positive; the caller has checked that.
type Set struct {
	// Masters are those configured, in any order. Their names tell them apart, and stand in
	// their markers.
	Masters []Master

	// AcquireTimeout bounds every decision, from when the request is put to
	// the masters; a request with a ttl never takes more than half of it.
	AcquireTimeout time.Duration

	// MaxTTL is the longest ttl that is protected against masters that forget.
	// Requests that ask for more are counted.
	MaxTTL time.Duration

	// ConnectTimeout bounds a dial with all that identifies a master;
	// MasterTimeout is how long a batch may stay unanswered before its
	// connection is given up; ProbeInterval is how often an idle master is
	// probed, and a quarter of it how often a lost one is dialled.
	ConnectTimeout, MasterTimeout, ProbeInterval time.Duration

	// Clock, if not nil, is used instead of the machine's own clocks: it tells
	// the time since some moment, which goes on while the machine sleeps, and
	// the wall clock.
	Clock func() (boot time.Duration, wall time.Time)
}

// Terms are what the markers of the masters say of the set.
func (s *Set) Terms() marker.Terms {
	return marker.Terms{
		Set:            slices.Sorted(slices.Values(s.Names())),
		AcquireTimeout: s.AcquireTimeout.Milliseconds(),
		MaxTTL:         s.MaxTTL.Milliseconds(),
	}
}

// Names are those of the masters, as configured.
func (s *Set) Names() []string {
	names := make([]string, len(s.Masters))
	for i := range s.Masters {
		names[i] = s.Masters[i].Name
	}
	return names
}

// Boot is our clock, for what must go on while the machine sleeps.
func (s *Set) Boot() time.Duration {
	if s.Clock != nil {
		boot, _ := s.Clock()
		return boot
	}
	return clock.BootTime()
}

// QuarantineTime is how long a master that lost its keys must not vote, if nobody
// gives them back: a lock that it voted for was asked for no later than then, and
// ends after max-ttl, by clocks that may run faster than ours.
func (s *Set) QuarantineTime() time.Duration { return clock.Pad(s.MaxTTL) }

// FirstTime is how long a set's first quarantine lasts, from when the last of its masters
// was marked: until locks have ended which a proxy granted that had not looked at one of
// them since.
func (s *Set) FirstTime() time.Duration {
	return s.QuarantineTime() + 2*s.ProbeInterval + s.ConnectTimeout
}

// Hush is how long after a loss no catch-up may begin: until all decisions that
// counted a vote from before it have fallen, at any proxy. What they decided is on
// the sources then.
func (s *Set) Hush() time.Duration { return clock.Pad(s.AcquireTimeout) + hushMargin }

const hushMargin = 50 * time.Millisecond

// Apart is how far apart two looks at a master are of which the first knows nothing that is
// undecided at the second: what was put to the masters by then is decided, and what follows from
// it was carried out. A step's end takes as long again as its decision.
func (s *Set) Apart() time.Duration { return 2 * s.Hush() }
