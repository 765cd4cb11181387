package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// Config is what an Engine works with. Every duration must be positive unless
// said otherwise; the caller has checked that.
type Config struct {
	Masters []master.Master

	// AcquireTimeout bounds every decision, from when the request is put to
	// the masters; a request with a ttl never takes more than half of it.
	AcquireTimeout time.Duration

	// MaxTTL is the longest ttl that is protected against masters that forget.
	// Requests that ask for more are counted.
	MaxTTL time.Duration

	// MaxHold bounds how long extensions may keep one lock since this proxy
	// first saw it. Zero: as long as the client likes.
	MaxHold time.Duration

	// SplitRetries is how often an acquire that was split is tried again, and
	// SplitDelay the longest random wait before each try; the shortest is a
	// fifth of it.
	SplitRetries int
	SplitDelay   time.Duration

	// ConnectTimeout bounds a dial with all that identifies a master;
	// MasterTimeout is how long a batch may stay unanswered before its
	// connection is given up; ProbeInterval is how often an idle master is
	// probed, and a quarter of it how often a lost one is dialled.
	ConnectTimeout, MasterTimeout, ProbeInterval time.Duration

	// Memory is how many bytes there are for what masters are asked, for what they answer
	// and for what they are owed: see newRooms. Zero: DefaultMemory.
	Memory int

	// Client, unless it is empty, is what masters are to call this process's connections:
	// see ClientName.
	Client string

	// FirstStart has masters of which none is marked be marked by the proxy. Else that
	// is for Bootstrap.
	FirstStart bool

	// Clock, if not nil, is used instead of the machine's own clocks: it tells
	// the time since some moment, which goes on while the machine sleeps, and
	// the wall clock.
	Clock func() (boot time.Duration, wall time.Time)
}

func (c *Config) agreement() marker.Terms {
	t := marker.Terms{AcquireTimeout: c.AcquireTimeout.Milliseconds(), MaxTTL: c.MaxTTL.Milliseconds()}
	for _, m := range c.Masters {
		t.Set = append(t.Set, m.Name)
	}
	slices.Sort(t.Set)
	return t
}
