package engine

import (
	"context"
	"slices"
	"time"

	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// Config is what an Engine works with. Every duration must be positive unless
// said otherwise; the caller has checked that.
type Config struct {
	members.Set

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

// equip says what an engine wants of its masters.
func (c *Config) equip(list []master.Master) []master.Master {
	list = slices.Clone(list)
	for i := range list {
		m := &list[i]
		m.Boot, m.Client, m.Scripts, m.Rights = c.Boot, c.Client, scripts, rights
	}
	return list
}

// Bootstrap is members.Bootstrap for masters that an engine can use.
func Bootstrap(ctx context.Context, cfg Config, how members.Bootstrapping) error {
	cfg.Masters = cfg.equip(cfg.Masters)
	return members.Bootstrap(ctx, cfg.Set, how)
}

// ChangeMasters is members.Change for masters that an engine can use.
func ChangeMasters(ctx context.Context, old []master.Master, cfg Config, how members.Changing) error {
	cfg.Masters = cfg.equip(cfg.Masters)
	return members.Change(ctx, cfg.equip(old), cfg.Set, how)
}
