package engine

import (
	"slices"
	"time"

	"redlock-proxy/quorum/master"
)

// Config is what an Engine works with. Every duration must be positive unless
// said otherwise; the caller has checked that.
type Config struct {
	master.Set

	// MaxHold bounds how long extensions may keep one lock since this proxy
	// first saw it. Zero: as long as the client likes.
	MaxHold time.Duration

	// SplitRetries is how often an acquire that was split is tried again, and
	// SplitDelay the longest random wait before each try; the shortest is a
	// fifth of it.
	SplitRetries int
	SplitDelay   time.Duration

	// Memory is how many bytes there are for what masters are asked, for what they answer
	// and for what they are owed: see master.NewRooms. Zero: master.DefaultMemory.
	Memory int

	// Client, unless it is empty, is what masters are to call this process's connections:
	// see master.ClientName.
	Client string

	// FirstStart has masters of which none is marked be marked by the proxy. Else that
	// is for members.Bootstrap.
	FirstStart bool
}

// Equipped is the set with masters that an engine can use: it says what an engine wants of them,
// which is also what package members is to find there.
func (c *Config) Equipped() master.Set {
	set := c.Set
	set.Masters = slices.Clone(set.Masters)
	for i := range set.Masters {
		m := &set.Masters[i]
		m.Boot, m.Client, m.Scripts, m.Rights = c.Boot, c.Client, scripts, rights
	}
	return set
}
