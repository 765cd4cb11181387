package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// Bounds of a lane. What does not fit into the queue is a vote unknown at once.
const (
	// maxBatch keeps a batch below the size at which rueidis would take
	// another connection for it (2000).
	maxBatch = 1024
	// maxQueue has room for one command of each of the clients that there may be by
	// default.
	maxQueue = 12 << 10
	// maxReleases is how far releases may fill the queue: each of them frees
	// what an earlier command in it may still take.
	maxReleases = 2 * maxQueue
	maxErrands  = 2 * maxQueue

	// maxBatchBytes is what the ops of a batch come to, unless one alone does to more: few
	// enough that who waits behind it does not wait too long.
	maxBatchBytes = 1 << 20
)

// lane is the one way to a master: a bounded queue and the goroutine that
// sends it, one batch at a time. Producers never wait for the master.
//
// Its parts are its queue, which its lock guards, and what its goroutine alone uses, or who has
// borrowed it (stay.go): the keeper of the marker, the sender of batches and the connector. Its own fields are what
// others ask about the master, and these parts tell.
type lane struct {
	db     *database
	index  int
	master master.Master
	log    hclog.Logger
	barred sync.Once // it was told that ghosts stay, as the master does not let its user see to them
	counters

	// The fields below are guarded by mu.
	mu     sync.Mutex
	open   bool      // a link is up: the queue takes commands
	opened time.Time // when it last came up
	link   *master.Link
	queue  queue

	state   quorum.State
	since   time.Time
	reason  string
	who     marker.Identity
	trips   time.Duration // round-trip time, moving average
	nearest time.Duration // the least round-trip time
	links   uint64

	withheld  bool         // its votes do not count: it is sent releases only
	why       string       // of withheld
	nonce     marker.Nonce // under which it votes; "" while it does not
	clockTold clockTold
	ward      *quarantine  // while it is quarantined
	diskLog   string       // the name of the log that it writes; see durable.go
	rewrites  int          // how often that had been written anew when it got its name
	unlogged  bool         // the master was seen to write none, while the lane's own link was not there
	drained   bool         // by the operator
	sight     marker.Sight // what is known of the marker
	across    elsewhere    // how the master stands in all databases, if this is that of database 0

	// The fields below are the lane's goroutine's alone, or his who has borrowed the lane, see stay.go.
	keeper    keeper
	sender    sender
	connector connector

	// Those of the master's clock are told to others.
	watch        *clock.Watch  // of the master's clock
	settledJumps atomic.Uint64 // how many of its jumps the marker tells of, or were ours
	jumped       time.Duration // by how much it has that is not settled, as of the last look

	clock     atomic.Int64 // by how much the master's is ahead of ours, as of the last batch
	clockSeen atomic.Int64 // when that was, by our clock; 0 if it is not known yet
}

// silent tells that the master is asked for no votes. mu is held.
func (l *lane) silent() bool { return l.withheld || l.drained }

// logs is where the lane tells what is not about the master as such: database 0 tells that
// for all.
func (l *lane) logs() hclog.Logger {
	if !l.db.isZero() {
		return l.db.engine.zero.lanes[l.index].log.With("database", l.master.DB)
	}
	return l.log
}

func (l *lane) status() quorum.MasterStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	inFlight := 0
	for _, b := range l.queue.flying {
		inFlight += len(b.errands) + len(b.ops)
	}
	s := quorum.MasterStatus{
		Name:      l.master.Name,
		DB:        l.master.DB,
		State:     l.state,
		Since:     l.since,
		Reason:    l.reason,
		RunID:     l.who.RunID,
		Version:   l.who.Version,
		RoundTrip: l.trips,
		Granted:   l.votes[quorum.Granted].Load(),
		Refused:   l.votes[quorum.Refused].Load(),
		Unknown:   l.votes[quorum.Unknown].Load(),
		Withheld:  l.votes[quorum.Withheld].Load(),
		Unasked:   l.unasked.Load(),

		Quarantines: l.quarantines.Load(),

		Queue:      len(l.queue.ops) + len(l.queue.letters.list),
		InBatch:    inFlight,
		Debts:      l.queue.debts.len(),
		DebtBytes:  l.queue.debts.bytes,
		Reconnects: max(l.links, 1) - 1,
		Batched:    l.batched.Load(),
	}
	for size := range s.Batches {
		s.Batches[size] = l.batches[size].Load()
	}
	l.quarantineStatus(&s)
	return s
}
