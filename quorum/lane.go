package quorum

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
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
)

// lane is the one way to a master: a bounded queue and the goroutine that
// sends it, one batch at a time. Producers never wait for the master.
type lane struct {
	engine *Engine
	index  int
	master Master
	log    hclog.Logger

	wake     chan struct{} // has room for one; sent to when idle is cleared
	failures atomic.Uint64 // attempts to connect that failed
	tried    sync.Once     // it votes, or cannot be reached, for the first time
	counters

	// The fields below are guarded by mu.
	mu      sync.Mutex
	open    bool      // a link is up: the queue takes commands
	opened  time.Time // when it last came up
	idle    bool      // the goroutine waits on wake
	queue   []*op
	errands []errand // go before the queue
	outbox  outbox   // goes between the two
	flying  []*batch // in flight, or about to be
	carried int      // errands and ops that the goroutine has not done with
	sent    time.Time
	link    *link
	debts   debts
	swept   time.Time // when debts that are over were last looked for
	state   State
	since   time.Time
	reason  string
	who     identity
	trips   time.Duration // round-trip time, moving average
	links   uint64

	withheld bool        // its votes do not count: it is sent releases only
	why      string      // of withheld
	nonce    nonce       // under which it votes; "" while it does not
	sighted  sighting    // the anchor, for others than the lane's goroutine
	ward     *quarantine // while it is quarantined
	drained  bool        // by the operator

	// Used by the lane's goroutine alone.
	flush      []Flusher
	spare      []*op
	latest     int // how many the latest batch was of
	spareBatch *batch
	abreast           // of a master that is far
	troubled   string // the trouble that was last logged
	warned     bool   // of its replicas
	mending    bool   // what was refused with NOSCRIPT is being sent again

	known     marker        // what stands on the master; its nonce is "" if nothing does
	anchor    sighting      // of the master's clock, when it ran true
	steady    atomic.Int64  // when the last look began that showed so, by our clock
	jumped    time.Duration // by how much it has since, until that is settled
	doubt     bool          // a proof did not fit
	inspected time.Duration // by our clock, when the master was last inspected

	// clock is the master's Unix time in microseconds when the engine started,
	// as of the last batch; 0 if it is not known yet.
	clock atomic.Int64
}

// push appends an op to the queue. If that cannot be, it returns the lane's vote on
// it, which is the caller's to cast.
func (l *lane) push(o *op) (missed Vote) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.drained && !o.needsNoVote():
		return Withheld // whether the master is there or not: it is not asked
	case !l.open, len(l.queue) >= maxReleases, len(l.queue) >= maxQueue && o.Kind != Release && o.Kind != Remove:
		return Unknown
	case l.silent() && !o.needsNoVote():
		return Withheld
	}
	if l.ward != nil {
		l.ward.ended.note(o)
	}
	o.hold()
	l.queue = append(l.queue, o)
	l.rouse()
	return 0
}

// silent tells that the master is asked for no votes. mu is held.
func (l *lane) silent() bool { return l.withheld || l.drained }

// rouse wakes the goroutine. mu is held.
func (l *lane) rouse() {
	if l.idle {
		l.idle = false
		l.wake <- struct{}{}
	}
}

// undo has the master take back what d names: at the head of the next batch,
// or when the master is back.
func (l *lane) undo(d debt, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case d.nonce == "" && !l.engine.alone():
		l.dropped.Add(1)
	case !l.open:
		l.oweLocked(d, now)
	case len(l.errands) >= maxErrands:
		l.dropped.Add(1)
	default:
		l.errands = append(l.errands, errand{debt: d})
		l.rouse()
	}
}

// owe remembers a release that was put at a time, for when the master is back. A master
// that is there is owed nothing, nor one that has been there since: it may have carried
// out newer commands on the key.
//
//	1: A releases k, "1"; master 1 is away, and 3 late
//	2: master 1 comes back, and grants k to B as "1", and so does 2; master 1 goes away
//	3: master 3 tells how long A's lock could have lived, which would be owed to 1
//	4: master 1 comes back: B's would be taken, which may end as soon as A's
func (l *lane) owe(d debt, put, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.nonce = l.nonce; !l.open && put.After(l.opened) && (d.nonce != "" || l.engine.alone()) {
		l.oweLocked(d, now)
	}
}

func (l *lane) oweLocked(d debt, now time.Time) {
	l.owed.Add(1)
	l.dropped.Add(uint64(l.debts.add(d, now)))
}

// votesUnder is the nonce under which the master votes, "" if it does not.
func (l *lane) votesUnder() nonce {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nonce
}

// heal gives the key of a won extension again to a master that had lost it.
func (l *lane) heal(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && len(l.errands) < maxErrands {
		o.keep()
		l.errands = append(l.errands, errand{heal: o, from: o.put})
		l.rouse()
	}
}

// take waits for something to send, and takes a batch of it. An empty batch is
// a probe.
func (l *lane) take(ctx context.Context) (*batch, error) {
	l.mu.Lock()
	l.carried = 0
	if l.waiting() == 0 {
		l.idle = true
		l.mu.Unlock()
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	} else {
		l.mu.Unlock()
	}
	// Where there is much to do, others may be about to put something, too. What waits
	// for the same batch costs the master, and us, next to nothing more.
	if l.latest > 1 {
		yield()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.errands), maxBatch)
	errands := l.errands[:n:n]
	if len(errands) == len(l.errands) {
		l.errands = nil
	} else {
		l.errands = l.errands[len(errands):]
	}
	errands = l.outbox.take(errands, maxBatch-len(errands))
	ops := l.queue
	if n := maxBatch - len(errands); len(ops) > n {
		ops = ops[:n:n]
		l.queue = l.queue[n:]
	} else {
		l.queue, l.spare = l.spare[:0], nil
	}
	b := l.newBatch(errands, ops)
	l.flying = append(l.flying, b)
	l.latest = len(errands) + len(ops)
	l.carried = l.latest
	return b, nil
}

// probe rouses an idle lane that has sent nothing for a while, and forgets
// debts that are over.
func (l *lane) probe(now time.Time, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open && l.idle && now.Sub(l.sent) >= after {
		l.rouse()
	}
	if now.Sub(l.swept) >= after {
		l.swept = now
		l.dropped.Add(uint64(l.debts.expire(now)))
	}
}

// overdue appends the ops of this lane whose time is up and which are not decided, and
// holds them for the caller.
func (l *lane) overdue(ops []*op, now time.Time) []*op {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.flying {
		ops = appendOverdue(ops, b.ops, now)
	}
	return appendOverdue(ops, l.queue, now)
}

func appendOverdue(to, ops []*op, now time.Time) []*op {
	for _, o := range ops {
		if o.overdue(now) && o.ballot.load().decision() == undecided {
			o.hold()
			to = append(to, o)
		}
	}
	return to
}

// busy tells that the lane has something to do that it can do, or that it may
// be able to once it is connected.
func (l *lane) busy(connecting bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open {
		return l.carried > 0 || connecting && l.debts.len() > 0
	}
	return l.waiting()+l.carried > 0
}

// waiting is how much there is for the next batch. mu is held.
func (l *lane) waiting() int { return len(l.queue) + len(l.errands) + len(l.outbox.list) }

func (l *lane) status() MasterStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	inFlight := 0
	for _, b := range l.flying {
		inFlight += len(b.ops)
	}
	s := MasterStatus{
		Name:       l.master.Name,
		DB:         l.master.db,
		State:      l.state,
		Since:      l.since,
		Reason:     l.reason,
		RunID:      l.who.runID,
		Version:    l.who.version,
		RoundTrip:  l.trips,
		Granted:    l.votes[Granted].Load(),
		Refused:    l.votes[Refused].Load(),
		Unknown:    l.votes[Unknown].Load(),
		Withheld:   l.votes[Withheld].Load(),
		Queue:      len(l.queue),
		InBatch:    inFlight,
		Debts:      l.debts.len(),
		DebtBytes:  l.debts.bytes,
		Reconnects: max(l.links, 1) - 1,
	}
	l.quarantineStatus(&s)
	return s
}
