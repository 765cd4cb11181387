package proxy

import (
	"context"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// Engine is what a Server asks of Redlock: *engine.Engine of quorum/engine.
type Engine interface {
	// Put puts r to the masters without waiting for any of them. The asker is
	// answered exactly once, possibly before Put returns.
	Put(r *quorum.Request, asker quorum.Asker)

	// PutSince is Put of what was asked for at a time, from which its own counts.
	PutSince(r *quorum.Request, asker quorum.Asker, asked time.Time)

	// PutStaying is PutSince by somebody who has nothing to do until there is input where his Stay waits for that: it
	// may return only when all masters have answered, a few milliseconds later, but as soon as there is. Stay makes one
	// for a descriptor, unless the system denies it.
	PutStaying(r *quorum.Request, asker quorum.Asker, asked time.Time, with quorum.Stay)
	Stay(fd int) (quorum.Stay, error)

	// Weight is what r comes to in bytes, both ways, as far as that is known; 0 if it is
	// little.
	Weight(r *quorum.Request) int

	// Memory is how many bytes are taken for what masters have answered, what they are
	// asked and what they are owed.
	Memory() int

	// TakeBack releases a lock of which its client was never told.
	TakeBack(l quorum.Lock)

	// Ready: a quorum of masters can vote.
	Ready() bool

	// Now is the time by the masters' clocks, if they agree on one.
	Now() (now time.Time, known bool)

	// Status is a picture that the caller owns.
	Status() quorum.Status

	// Admit ends the quarantine of a master, Drain has it asked for no votes, and
	// Resume ends that. The error says why not, and names the masters.
	Admit(master string) error
	Drain(master string, force bool) error
	Resume(master string) error

	// Open returns when requests to a database can be put, or with an error in
	// Redis's words if the masters do not have it.
	Open(db int) error

	// Attend says who gets the messages that are published.
	Attend(to quorum.Audience)

	// Publish delivers a message without waiting for any master, and tells how
	// many subscribers of this server got it.
	Publish(channel, message string) (receivers int)

	// Subscribe returns when whatever is published from then on will be heard
	// (Won), or when that takes too long.
	Subscribe() quorum.Result

	// Observe says who is told that keys which were watched have changed, and Watch has masters tell of the next change
	// of one.
	Observe(o quorum.Observer)
	Watch(db int, key string)

	// Tells waits until a quorum tells of changes, until ctx ends, or until it is known that too few can, which is an
	// error.
	Tells(ctx context.Context) error

	// Broadcast has masters tell of all changes, or no more.
	Broadcast(on bool)
}

// session is what a connection asks of the dialect: *commands.Session.
type session interface {
	Do(args []string) commands.Action
	Wait(command string, now time.Duration) time.Duration
	Leave()
	Proto() int
	Muted() bool
	Authed() bool
	Certified(names []string)
	MayListen() bool
	KnowsOf(channel string) bool
	Memory() int
	Watched() *atomic.Int64
	Rest()
	Proxies() commands.Reply
	Snapshot() commands.Snapshot
	Selected(e commands.SelectEffect, err error) commands.Reply
	Prefixes() []string
	Tracks(e commands.TrackingEffect, err error) commands.Reply
	Subscribed(e commands.SubscribeEffect, heard quorum.Result) commands.Reply
	Subscriptions() (channels, patterns []string)
}
