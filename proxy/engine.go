package proxy

import (
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// Engine is what a Server asks of Redlock: *quorum.Engine.
type Engine interface {
	// Put puts r to the masters without waiting for any of them. The asker is
	// answered exactly once, possibly before Put returns.
	Put(r *quorum.Request, asker quorum.Asker)

	// TakeBack releases a lock that was won for r, and of which its client was
	// never told.
	TakeBack(r *quorum.Request)

	// Ready: a quorum of masters can vote.
	Ready() bool

	// Now is the time by the masters' clocks.
	Now() time.Time

	Status() quorum.Status
}

// session is what a connection asks of the dialect: *commands.Session.
type session interface {
	Do(args []string) commands.Action
	Proto() int
	Authed() bool
	Snapshot() commands.Snapshot
}
