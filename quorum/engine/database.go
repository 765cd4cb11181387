package engine

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/maxhold"
)

// database is one of the masters' databases: it has a lane to each of them, on a connection that
// has selected it.
//
// It is what a request is put to, so that what it is wide of are parts of which each is a type
// with a lock of its own; the rest counts for Status.
type database struct {
	Config
	engine *Engine
	log    hclog.Logger
	name   string // which no other has, here or in another proxy, nor this one after a restart
	lanes  []*lane
	since  time.Time

	closing atomic.Bool
	cancel  context.CancelFunc
	wait    sync.WaitGroup
	tried   chan struct{} // closed when every master has been tried once
	untried atomic.Int32
	used    atomic.Bool   // a client has asked for it
	made    time.Duration // when it was, by our clock

	seed          maphash.Seed
	shards        [shards]shard
	heldLocks     *maxhold.Locks
	sizes         sizes
	retries       retries
	turns         turns
	confirmations confirmations
	laggards      laggards
	mendings      mendings
	steps         atomic.Uint64 // how many were tried
	latestTTL     atomic.Pointer[ttlText]
	claims        claims
	jumps         jumps
	missing       missing // the sweeper's

	apart  atomic.Int64  // by how much our clocks differ, which grows when the machine sleeps
	sleeps atomic.Uint64 // how often it has slept

	// What Status tells.
	inFlight  atomic.Int64
	decisions [quorum.Survey + 1][quorum.Unavailable + 1]atomic.Uint64
	splits    atomic.Uint64
	overTTL   atomic.Uint64
	shared    atomic.Uint64
	held      atomic.Uint64
}

// newDatabase makes a database of an engine. It does nothing until it begins.
func newDatabase(e *Engine, cfg Config, log hclog.Logger, cancel context.CancelFunc) *database {
	db := &database{
		Config:    cfg,
		engine:    e,
		log:       log,
		name:      newName(),
		since:     time.Now(),
		heldLocks: maxhold.New(cfg.MaxHold, cfg.AcquireTimeout),
		seed:      maphash.MakeSeed(),
		tried:     make(chan struct{}),
		cancel:    cancel,
		retries:   retries{kick: make(chan struct{}, 1)},
		claims:    claims{list: make([]string, len(cfg.Masters))},
		jumps:     jumps{list: make([]clock.Jump, len(cfg.Masters))},
	}
	db.untried.Store(int32(len(cfg.Masters)))
	db.watchOwnClock()
	db.made = db.Boot()
	db.apart.Store(int64(db.made))
	for i, m := range db.Equipped().Masters {
		db.lanes = append(db.lanes, newLane(db, i, m))
	}
	return db
}

func newLane(db *database, i int, m master.Master) *lane {
	l := &lane{
		db:     db,
		index:  i,
		master: m,
		log:    db.log.With("master", m.Name),
		state:  quorum.Connecting,
		since:  db.since,
		watch:  new(clock.Watch),
		queue:  queue{wake: make(chan struct{}, 1), debts: debts{room: &m.Rooms.Debts}},
	}
	l.queue.lane, l.keeper.lane, l.sender.lane, l.connector.lane = l, l, l, l
	return l
}

// begin has its lanes connect. It lasts until ctx ends, or it is closed.
func (db *database) begin(ctx context.Context) {
	for _, l := range db.lanes {
		db.wait.Go(func() { l.connector.run(ctx) })
		if !db.alone() {
			db.wait.Go(func() { l.freeOfEternal(ctx) })
		}
	}
	db.wait.Go(func() { db.sweep(ctx) })
}

// number is which database it is.
func (db *database) number() int { return db.lanes[0].master.DB }

// isZero tells that it is the one in which all begins: where a master stands there is told in its
// log, and decides of the others.
func (db *database) isZero() bool { return db == db.engine.zero }

// unused tells that no client has asked for the database.
func (db *database) unused() bool { return !db.isZero() && !db.used.Load() }

func (db *database) put(r *quorum.Request, asker quorum.Asker, asked time.Time, s *stay) {
	o := newOp(r, asker)
	o.began = asked
	switch {
	case o.Kind == quorum.Acquire && db.join(o):
	case o.IsStep() && db.takeTurn(o):
	default:
		db.tryStaying(o, o.began, s)
	}
}

func (db *database) laneTried() {
	if db.untried.Add(-1) == 0 {
		close(db.tried)
	}
}

// ends tells of an op that it is not to be tried, or not once more, as the engine is about to be closed.
func (db *database) ends(o *op) bool { return db.closing.Load() && !o.GivesBack }

// close is Engine.Close of one database.
func (db *database) close(ctx context.Context) {
	db.closing.Store(true)
	failures := make([]uint64, len(db.lanes))
	for i, l := range db.lanes {
		failures[i] = l.connector.failures.Load()
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for db.busy(failures) && ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	db.cancel()
	db.wait.Wait()
}

// busy tells whether there is something left to do that can be done. A master
// that is owed something is given one more chance to be reached.
func (db *database) busy(failures []uint64) bool {
	for i, l := range db.lanes {
		if l.queue.busy(l.connector.failures.Load() == failures[i]) {
			return true
		}
	}
	return db.inFlight.Load() > 0
}
