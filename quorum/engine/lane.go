package engine

import (
	"context"
	"slices"
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
type lane struct {
	engine *Engine
	index  int
	master master.Master
	log    hclog.Logger

	wake     chan struct{} // has room for one; sent to when idle is cleared
	failures atomic.Uint64 // attempts to connect that failed
	tried    sync.Once     // it votes, or cannot be reached, for the first time
	lacking  sync.Once     // it was told that the master lacks a database
	barred   sync.Once     // it was told that ghosts stay, as the master does not let its user see to them
	counters

	// The fields below are guarded by mu.
	mu          sync.Mutex
	open        bool      // a link is up: the queue takes commands
	opened      time.Time // when it last came up
	idle        bool      // the goroutine waits on wake
	queue       []*op
	queued      int      // what they come to in bytes
	errands     []errand // go before the queue
	outbox      outbox   // goes between the two
	later       []laterDebt
	toldOfCrowd time.Time // when it was last logged that there is no room for an errand
	flying      []*batch  // in flight, or about to be
	sentSo      sentSo
	carried     int // errands and ops that the goroutine has not done with
	sent        time.Time
	link        *master.Link
	debts       debts
	swept       time.Time // when debts that are over were last looked for
	state       quorum.State
	since       time.Time
	reason      string
	who         marker.Identity
	trips       time.Duration // round-trip time, moving average
	nearest     time.Duration // the least round-trip time
	links       uint64

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
	across    standings    // how the master stands in all databases, if this is that of database 0

	// Used by the lane's goroutine alone.
	flush      []quorum.Flusher
	spare      []*op
	latest     int // how many the latest batch was of
	spareBatch *batch
	abreast              // of a master that is far
	troubled   string    // the trouble that was last logged
	refused    time.Time // when it last was in any
	suspects   bool      // it may refuse what is needed of it
	downFor    []string  // why the master is down, as far as that was logged
	warned     bool      // of its replicas
	mending    bool      // what is sent is sent again, see mend

	toldOfRoom time.Time // when it was last logged that there is no room for an answer

	known        marker.Marker // what stands on the master; its nonce is "" if nothing does
	past         past          // what stood there before
	admits       marker.Nonce  // under which this proxy has let the master vote
	haunted      marker.Nonce  // under which it was last begun to be freed of ghosts
	watch        *clock.Watch  // of the master's clock
	settledJumps atomic.Uint64 // how many of its jumps the marker tells of, or were ours
	met          uint64        // how many there were when the marker was last asked for
	untold       bool          // a jump is settled that no marker tells of yet
	jumped       time.Duration // by how much it has that is not settled, as of the last look

	// anew is when a jump was last settled, by our clock. What was put before then gets no
	// vote of this master any more:
	//	1: master 1 grants k to A, and this machine is stopped, with all of its clocks
	//	2: master 1 loses k, and catches up with the others, which never had it
	//	3: the machine goes on: the clocks of all masters seem to have jumped, so it was
	//	   ours, and each begins anew
	//	4: master 2 grants k to A, which would have a quorum
	anew time.Time

	steady    atomic.Int64  // when the last look began that showed it to run true, by our clock
	doubt     bool          // a proof did not fit
	era       uint64        // of what all masters were last looked at for
	wrote     string        // the step of a first start in which this lane has written markers
	inspected time.Duration // by our clock, when the master was last inspected
	looked    time.Duration // and when a batch last looked at it

	waits      string        // the process whose log the others are to confirm
	waitsSince time.Duration // by our clock

	clock     atomic.Int64 // by how much the master's is ahead of ours, as of the last batch
	clockSeen atomic.Int64 // when that was, by our clock; 0 if it is not known yet
}

// push appends an op to the queue. If that cannot be, it returns the lane's vote on
// it, which is the caller's to cast.
func (l *lane) push(o *op) (missed quorum.Vote) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if missed = l.misses(o); missed != 0 {
		l.notSent(o)
		if l.open || missed != quorum.Unknown {
			l.votes[missed].Add(1)
		} else {
			l.unasked.Add(1)
		}
		return missed
	}
	if l.ward != nil {
		l.ward.released.Note(&o.Request)
	}
	o.hold()
	l.queue = append(l.queue, o)
	l.queued += o.weight
	l.master.Rooms.Queue.Add(o.weight)
	l.rouse()
	return 0
}

// notSent notes what is known of an op that is not sent, or may not have been. mu is held.
func (l *lane) notSent(o *op) {
	s := &o.sent[l.index]
	s.ordinal, s.nonce = l.sentSo.last, l.nonce
}

// misses is the lane's vote on an op that cannot be queued. mu is held.
func (l *lane) misses(o *op) quorum.Vote {
	switch {
	case l.drained && !o.needsNoVote():
		return quorum.Withheld // whether the master is there or not: it is not asked
	case !l.open, len(l.queue) >= maxReleases, len(l.queue) >= maxQueue && o.Kind != quorum.Release && o.Kind != quorum.Remove,
		o.weight >= master.Small && l.master.Rooms.Queue.Full():
		return quorum.Unknown
	case l.silent() && !o.needsNoVote():
		return quorum.Withheld
	}
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
	l.undoLocked(d, now)
}

// undoBehind is undo of what was sent at a place, unless what could have freed its key
// was sent since.
func (l *lane) undoBehind(d debt, m memory, p ordinal, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sentSo.freedSince(m, p) {
		l.cannotUndo(d)
		return
	}
	l.undoLocked(d, now)
}

// undoLock is undo of a lock that an op has won, unless what could have freed it was sent
// since.
func (l *lane) undoLock(d debt, o *op, p ordinal, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sentSo.lockFreedSince(o, p) {
		l.cannotUndo(d)
		return
	}
	l.undoLocked(d, now)
}

func (l *lane) undoLocked(d debt, now time.Time) {
	switch {
	case d.nonce == "" && !l.engine.alone(), !d.tellable():
		l.cannotUndo(d)
	case !l.open:
		l.oweLocked(d, now)
	case !l.addErrand(errand{debt: d}):
		l.cannotUndo(d)
	}
}

// addErrand puts an errand at the end of those that go first. It is false if there is no room
// for it. mu is held.
func (l *lane) addErrand(e errand) bool {
	if len(l.errands) >= maxErrands || !l.master.Rooms.Errands.Take(e.size()) {
		l.crowded()
		return false
	}
	l.errands = append(l.errands, e)
	l.rouse()
	return true
}

// removed gives back the room of an errand that was taken out of the line. mu is held.
func (l *lane) removed(e *errand) { l.master.Rooms.Errands.Add(-e.size()) }

// crowded tells once in a while that there is no room for an errand. mu is held.
func (l *lane) crowded() {
	if now := time.Now(); now.Sub(l.toldOfCrowd) >= time.Minute {
		l.toldOfCrowd = now
		l.logs().Warn("too much waits to be taken back from the master: what is left there keeps others out until its ttl ends",
			"errands", len(l.errands), "bytes", l.master.Rooms.Errands.Used.Load())
	}
}

// logs is where the lane tells what is not about the master as such: database 0 tells that
// for all.
func (l *lane) logs() hclog.Logger {
	if root := l.engine.root; root != nil {
		return root.lanes[l.index].log.With("database", l.master.DB)
	}
	return l.log
}

// undoLater has what could not be taken back, since it ends at another time than it
// should, be tried once more when what has moved its expiry may have been put back:
//
//	1: master 3 grants k to B, who is refused by 1 and 2, where A holds it
//	2: A says EXPIRE k to another proxy: it is carried out on 1, 2 and 3
//	3: B's is to be taken back from 3; then A's proxy makes of it what it was
func (l *lane) undoLater(d debt) {
	if d.again || d.eternal {
		l.undone(d, 0)
		return
	}
	d.again = true
	l.undoAgain(d)
}

// undoAgain has what the master has refused to take back, for lack of memory or the like, be
// tried once more in a while, until there is nothing left to be taken back.
func (l *lane) undoAgain(d debt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.later) >= maxErrands || !l.master.Rooms.Errands.Take(d.size()) {
		l.crowded()
		l.cannotUndo(d)
		return
	}
	l.later = append(l.later, laterDebt{d, time.Now().Add(2 * l.engine.AcquireTimeout)})
}

// undone counts what was carried out to take something back, of n keys.
func (l *lane) undone(d debt, n int64) {
	switch {
	case n > 0:
		l.undos.Add(1)
		if d.owed {
			l.paid.Add(1)
		}
	case d.owed:
		l.needless.Add(1)
	}
}

// cannotUndo counts what can not be taken back any more.
func (l *lane) cannotUndo(d debt) {
	l.missed.Add(1)
	if d.owed {
		l.dropped.Add(1)
	}
}

// laterDebt is a debt that is to be paid at a time.
type laterDebt struct {
	debt
	at time.Time
}

// undoDue has the debts paid whose time has come. mu is held.
func (l *lane) undoDue(now time.Time) {
	for len(l.later) > 0 && !l.later[0].at.After(now) {
		d := l.later[0].debt
		l.later = l.later[1:]
		l.master.Rooms.Errands.Add(-d.size())
		if l.mayTry(d) {
			l.undoLocked(d, now)
		}
	}
}

// mayTry tells that the master can be told once more to take something back. mu is held.
func (l *lane) mayTry(d debt) bool {
	if l.hasCome(d) {
		l.cannotUndo(d)
		return false
	}
	return true
}

// hasCome tells that what a debt is about may be another lock by now, of the same token and
// with as long to live, as tokens are that are constants. When it was first tried it stood
// before all that could be. mu is held.
//
//	1: A releases k, "1", which master 1 has missed; it is owed
//	2: master 1 is back, and holds a k of "1" that ends soon: it is not taken
//	3: B is given k as "1"; what is tried once more would take that
func (l *lane) hasCome(d debt) bool {
	m, p := memoryOf(l.engine.hash(d.key)), d.place-1
	if d.back != nil {
		return l.sentSo.freedSince(m, p)
	}
	return l.sentSo.anewSince(m, l.engine.lockMemory(d.key, d.value), p)
}

// apart is by how much a command may be carried out later by one master than by another,
// beyond how far they are: they are sent it by goroutines of their own.
const apart = 25 * time.Millisecond

// owe has the master release what it was asked to by o, and may not have been: at once
// if it is there again, or when it is back. Another one, if told is not negative, has told
// that the lock had so much left. Nothing is owed where the key was asked for since:
//
//	1: A releases k, "1"; master 1 is away, and 3 late
//	2: master 1 comes back, and grants k to B as "1", and so does 2; master 1 goes away
//	3: master 3 tells how long A's lock could have lived, which would be owed to 1
//	4: master 1 comes back: B's would be taken, which may end as soon as A's
func (l *lane) owe(d debt, o *op, told int, left time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &o.sent[l.index]
	if d.nonce = s.nonce; l.sentSo.takenSince(o.memory, s.ordinal) {
		return
	}
	if told >= 0 {
		asked := o.sent[told].asked
		from, vague, known := l.masterTime(asked.From)
		to, _, _ := l.masterTime(asked.To)
		if known {
			d.ends = clock.Span{From: from + left, To: to + left}.Pad(vague + apart + 2*l.trips)
		}
	}
	if d.tellable() && (d.nonce != "" || l.engine.alone()) {
		l.undoLocked(d, now)
	}
}

func (l *lane) oweLocked(d debt, now time.Time) {
	if !d.owed {
		l.owed.Add(1)
	}
	l.dropped.Add(uint64(l.debts.add(d, now)))
}

// heal gives the key of a won extension again to a master that had lost it, unless the
// key may have been freed there since.
func (l *lane) heal(o *op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sentSo.lockFreedSince(o, o.sent[l.index].ordinal) {
		return
	}
	if l.open && l.addErrand(errand{heal: o, from: o.put}) {
		o.keep()
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
	head := fittingErrands(l.errands, maxBatch)
	errands := l.errands[:head:head]
	for i := range errands {
		l.leaves(&errands[i])
	}
	if len(errands) == len(l.errands) {
		l.errands = nil
	} else {
		l.errands = l.errands[len(errands):]
	}
	errands = l.outbox.take(errands, maxBatch-len(errands))
	ops, room := l.queue, maxBatch-len(errands)
	n, waits := fitting(ops, room), map[string]struct{}(nil)
	if len(l.errands) > 0 && min(room, len(ops)) > 0 {
		n, waits = 0, waitingFor(l.errands) // any of those that fit may have to wait
	}
	if n = overtake(ops, n, room, waits); len(ops) > n {
		ops = ops[:n:n]
		l.queue = l.queue[n:]
	} else {
		l.queue, l.spare = l.spare[:0], nil
	}
	b := l.newBatch(errands, ops)
	b.ordinal = l.sentSo.last
	for _, o := range ops {
		l.sentSo.note(o)
		l.unqueued(o)
	}
	l.flying = append(l.flying, b)
	l.latest = len(errands) + len(ops)
	l.carried = l.latest
	return b, nil
}

// leaves has an errand be tried next. mu is held.
func (l *lane) leaves(e *errand) {
	l.removed(e)
	l.tries(&e.debt)
}

// tries notes where a debt stands that is tried next. mu is held.
func (l *lane) tries(d *debt) {
	if d.place == 0 {
		d.place = l.sentSo.last + 1
	}
}

// unqueued notes that an op does not wait any more. mu is held.
func (l *lane) unqueued(o *op) {
	l.queued -= o.weight
	l.master.Rooms.Queue.Add(-o.weight)
}

// fittingErrands is fitting of errands.
func fittingErrands(errands []errand, n int) int {
	bytes := 0
	for i := range errands[:min(n, len(errands))] {
		if bytes += errands[i].size(); bytes > maxBatchBytes && i > 0 {
			return i
		}
	}
	return min(n, len(errands))
}

// fitting is how many of ops, and at most n, fit into a batch by what they come to.
func fitting(ops []*op, n int) int {
	bytes := 0
	for i, o := range ops[:min(n, len(ops))] {
		if bytes += o.load(); bytes > maxBatchBytes && i > 0 {
			return i
		}
	}
	return n
}

// waitingFor are the keys of the errands that did not fit into a batch.
func waitingFor(errands []errand) map[string]struct{} {
	waits := make(map[string]struct{}, len(errands))
	for i := range errands {
		wait(errands[i].about(), waits)
	}
	return waits
}

// overtake is how many of ops go into a batch, and at most so many, where the first n of them
// do, as no more fit. Those that are short go before the long ones behind that: who takes a
// lock is not to wait until all values have come that others read. About each key the order
// stays as it is, and nothing goes before what is about all keys.
//
// Where errands wait for the next batch, n is 0, and nothing about one of their keys, which
// are in waits, goes either. It would be carried out before the errand:
//
//	1: SET k x comes to nothing, but master 1 has done it. It is to be put back there, when a
//	   megabyte of others is
//	2: SET k x is said again, and answered with OK
//	3: if master 1 was sent that before it puts k back, it puts back what was answered
//
// Other keys do not wait: there may be tens of megabytes of errands, which take a master
// longer than a decision may.
func overtake(ops []*op, n, most int, waits map[string]struct{}) int {
	if n >= len(ops) || n >= most {
		return n
	}
	if waits == nil {
		waits = make(map[string]struct{})
	}
	full, bytes := n > 0, 0
	rest := ops[n:min(len(ops), n+maxBatch)]
	var stay []*op
	for i, o := range rest {
		if n == most || o.Kind == quorum.Survey {
			stay = append(stay, rest[i:]...)
			break
		}
		full = full || n > 0 && bytes+o.load() > maxBatchBytes
		keys := o.keys()
		if full && o.weight >= master.Small || slices.ContainsFunc(keys, func(key string) bool { _, waiting := waits[key]; return waiting }) {
			wait(keys, waits)
			stay = append(stay, o)
			continue
		}
		bytes += o.load()
		ops[n] = o // whose own place is not before that
		n++
	}
	copy(ops[n:], stay)
	return n
}

// load is what an op that waits adds to a batch in bytes. What the other masters have decided
// meanwhile adds nothing, as it is not sent: a master that lags would else never catch up.
func (o *op) load() int {
	if o.weight >= master.Small && o.pointless() {
		return 0
	}
	return o.weight
}

// probe rouses an idle lane that has sent nothing for a while, and forgets
// debts that are over.
func (l *lane) probe(now time.Time, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.undoDue(now)
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
		if o.overdue(now) && o.ballot.Load().Decision() == quorum.Undecided {
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

func (l *lane) status() quorum.MasterStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	inFlight := 0
	for _, b := range l.flying {
		inFlight += len(b.ops)
	}
	s := quorum.MasterStatus{
		Name:       l.master.Name,
		DB:         l.master.DB,
		State:      l.state,
		Since:      l.since,
		Reason:     l.reason,
		RunID:      l.who.RunID,
		Version:    l.who.Version,
		RoundTrip:  l.trips,
		Granted:    l.votes[quorum.Granted].Load(),
		Refused:    l.votes[quorum.Refused].Load(),
		Unknown:    l.votes[quorum.Unknown].Load(),
		Withheld:   l.votes[quorum.Withheld].Load(),
		Unasked:    l.unasked.Load(),
		Queue:      len(l.queue),
		InBatch:    inFlight,
		Debts:      l.debts.len(),
		DebtBytes:  l.debts.bytes,
		Reconnects: max(l.links, 1) - 1,
	}
	l.quarantineStatus(&s)
	return s
}
