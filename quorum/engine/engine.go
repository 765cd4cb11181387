package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/messages"
)

// Engine puts requests to the masters and tells what they decided. Of all that is the same
// in each database it knows itself; the rest is that of one of them. Half of its methods are
// what commands and proxy ask for, and the others mostly open and close databases.
type Engine struct {
	zero   *database // 0, which is there as long as the engine is
	others databases

	hand          sync.Mutex // the operator's: one order at a time
	installation  installation
	messages      *messages.Bus
	inquiries     *messages.Inquiries
	subscriptions *messages.Subscriptions
	inquiring     inquiring
	tracking      *tracking
	broadcast     broadcast
}

// New starts an engine: its lanes begin to connect at once. Masters may be down.
func New(cfg Config, log hclog.Logger) *Engine {
	cfg.Masters = slices.Clone(cfg.Masters)
	for i := range cfg.Masters {
		cfg.Masters[i].Rooms = master.NewRooms(cfg.Memory, len(cfg.Masters))
	}
	e := &Engine{installation: installation{log: log, terms: cfg.Terms()}, inquiring: newInquiring()}
	ctx, cancel := context.WithCancel(context.Background())
	zero := newDatabase(e, cfg, log, cancel)
	e.zero = zero
	e.messages = messages.New(zero.name, e.carry)
	e.inquiries = messages.NewInquiries(zero.name, e.post)
	e.subscriptions = messages.NewSubscriptions(func() {
		zero.wait.Go(func() { e.answer(ctx) })
		for i := range zero.lanes {
			zero.wait.Go(func() { e.listen(ctx, i) })
		}
	})
	e.tracking = newTracking(len(zero.lanes), func() {
		for i := range zero.lanes {
			zero.wait.Go(func() { e.track(ctx, i, false) })
		}
	})
	e.broadcast.life, e.broadcast.begin = ctx, func(ctx context.Context, running, before *sync.WaitGroup) {
		for i := range zero.lanes {
			running.Add(1)
			zero.wait.Go(func() {
				defer running.Done()
				if before != nil {
					before.Wait()
				}
				e.track(ctx, i, true)
			})
		}
	}
	zero.wait.Go(e.messages.Run)
	context.AfterFunc(ctx, e.messages.Close)
	zero.begin(ctx)
	if !zero.alone() {
		zero.wait.Go(func() { e.tend(ctx) })
	}
	return e
}

func newName() string {
	var id [8]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// Put puts a request to all masters and returns. The asker is answered exactly
// once, maybe before Put returns. Put waits for no master. The request is the caller's
// again afterwards, what it points to is not.
func (e *Engine) Put(r *quorum.Request, asker quorum.Asker) { e.PutSince(r, asker, time.Now()) }

// PutSince is Put of what was asked for at a time, from which its own counts.
func (e *Engine) PutSince(r *quorum.Request, asker quorum.Asker, asked time.Time) {
	e.of(r).put(r, asker, asked, nil)
}

// Weight is what a request comes to in bytes, both ways, as far as that is known; 0 if it
// is little.
func (e *Engine) Weight(r *quorum.Request) int { return e.of(r).weight(r) }

// Now is the time of day by the masters' clocks. It is not known while no quorum of them
// agrees on it, and never before what it was. Two proxies may tell times that lie two
// seconds apart. With one master it is that one's.
func (e *Engine) Now() (now time.Time, known bool) { return e.zero.now() }

// Retire has new requests be answered with Unavailable at once, and those under way be decided without being
// tried again, but for what is given back. Close is to follow.
func (e *Engine) Retire() {
	e.zero.closing.Store(true)
	for _, db := range e.opened() {
		db.closing.Store(true)
	}
}

// Close ends the engine. New requests are answered with Unavailable at once;
// those under way are decided, what is queued is sent and debts to masters that
// can be reached are paid, until ctx ends. When Close returns, all goroutines
// of the engine have ended.
func (e *Engine) Close(ctx context.Context) {
	e.Retire()
	e.closeOthers(ctx)
	e.subscriptions.Close()
	e.tracking.close()
	e.broadcast.close()
	e.inquiries.Close()
	e.zero.close(ctx)
}
