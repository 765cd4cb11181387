package quorum

import (
	"context"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Engine puts requests to the masters and tells what they decided.
type Engine struct {
	Config
	log   hclog.Logger
	lanes []*lane
	start time.Time
	holds holds

	seed   maphash.Seed
	shards [256]shard

	tried     chan struct{} // closed when every master has been tried once
	untried   atomic.Int32
	closing   atomic.Bool
	cancel    context.CancelFunc
	wait      sync.WaitGroup
	decisions [Write + 1][Unavailable + 1]atomic.Uint64
	splits    atomic.Uint64
	overTTL   atomic.Uint64
	held      atomic.Uint64
	inFlight  atomic.Int64

	retries retries

	mu     sync.Mutex // guards claims
	claims []string   // run id of each lane's master, "" while it has no link
}

// shard makes putting an op into all lanes one step for its keys, so that all
// masters see the commands on a key in the same order, and two clients of one
// proxy never split a vote.
type shard struct {
	mu sync.Mutex
	_  [56]byte // a cache line of its own
}

// New starts an engine: its lanes begin to connect at once. Masters may be down.
func New(cfg Config, log hclog.Logger) *Engine {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{
		Config:  cfg,
		log:     log,
		start:   time.Now(),
		holds:   holds{most: cfg.MaxHold},
		seed:    maphash.MakeSeed(),
		tried:   make(chan struct{}),
		cancel:  cancel,
		retries: retries{kick: make(chan struct{}, 1)},
		claims:  make([]string, len(cfg.Masters)),
	}
	e.untried.Store(int32(len(cfg.Masters)))
	for i, m := range cfg.Masters {
		e.lanes = append(e.lanes, &lane{
			engine: e,
			index:  i,
			master: m,
			log:    log.With("master", m.Name),
			wake:   make(chan struct{}, 1),
			state:  Connecting,
			since:  e.start,
		})
	}
	for _, l := range e.lanes {
		e.wait.Go(func() { l.run(ctx) })
	}
	e.wait.Go(func() { e.sweep(ctx) })
	return e
}

// Put puts a request to all masters and returns. The asker is answered exactly
// once, maybe before Put returns. Put waits for no master. The request must not
// be changed afterwards.
func (e *Engine) Put(r *Request, asker Asker) {
	e.try(&op{Request: *r, asker: asker})
}

// try is one attempt at a request.
func (e *Engine) try(o *op) {
	n := len(e.lanes)
	o.engine, o.said, o.put = e, make([]said, n), time.Now()
	if !e.ready(o) {
		o.asker.Flush()
		return
	}
	e.inFlight.Add(1)
	var missed counted
	s := &e.shards[maphash.String(e.seed, o.Key)%uint64(len(e.shards))]
	s.mu.Lock()
	for i, l := range e.lanes {
		if !l.push(o) {
			missed = missed.voted(i, Unknown, false)
		}
	}
	s.mu.Unlock()
	if missed == 0 {
		return
	}
	answered := false
	for i, l := range e.lanes {
		if missed.vote(i) == Unknown {
			l.votes[Unknown].Add(1)
			answered = o.vote(i, Unknown, false, o.put) || answered
		}
	}
	if answered {
		o.asker.Flush()
	}
}

// ready works out the times of an op. If there is nothing to ask the masters,
// it answers and returns false.
func (e *Engine) ready(o *op) bool {
	if e.closing.Load() {
		return e.answer(o, Result{Decision: Unavailable})
	}
	ttl := o.TTL
	if o.At != 0 {
		now, known := e.clock()
		if !known {
			return e.answer(o, Result{Decision: Unavailable})
		}
		ttl = time.UnixMilli(o.At).Sub(now)
		if ttl <= 0 && !o.end() {
			return e.answer(o, Result{Decision: Won, Reply: Reply{
				Kind: FailureReply, Str: "ERR invalid expire time in 'set' command",
			}})
		}
	}
	eternal := ttl == 0 && o.At == 0
	switch o.Kind {
	case Acquire, Extend, Write:
		if o.attempt == 0 && o.first == nil && (ttl > e.MaxTTL || eternal && o.Kind != Write) {
			e.overTTL.Add(1)
		}
	}
	if o.Kind == Extend && o.first == nil && !e.holds.extends(&o.Request, max(ttl, 0), o.put) {
		e.held.Add(1)
		return e.answer(o, Result{Decision: Contended})
	}
	if o.Kind == Acquire && eternal {
		// It is set with a short ttl, and loses that once it is won: what it
		// leaves behind where it fails dies by itself.
		ttl = 4*e.AcquireTimeout + e.MasterTimeout
	}
	o.patience = patience(e.AcquireTimeout, ttl)
	o.prepare(ttl)
	return true
}

// end makes of a request whose time has passed already what it amounts to. It
// returns false if it amounts to nothing that could be done.
func (o *op) end() bool {
	switch {
	case o.Kind == Extend:
		o.Kind = Release
	case o.Kind == Write && o.Args[0] == "PEXPIRE":
		o.Args = slices.Clone(o.Args)
		o.Args[o.TTLArg] = "-1"
		o.TTLArg = 0
	default:
		return false
	}
	return true
}

func (e *Engine) answer(o *op, r Result) bool {
	r.Needed, r.Masters = quorumOf(len(e.lanes)), len(e.lanes)
	o.asker.Answer(r)
	return false
}

// decided acts on the decision in c, which just fell, and answers the asker
// unless there is more to do. It runs on the goroutine that cast the vote.
func (e *Engine) decided(o *op, c counted, now time.Time) (answered bool) {
	d := c.decision()
	if o.first == nil {
		e.decisions[o.Kind][d].Add(1)
	}
	switch {
	case o.Kind == Acquire && d == Won:
		if o.TTL == 0 && o.At == 0 {
			e.persist(o)
			e.inFlight.Add(-1)
			return false
		}
		e.holds.begin(&o.Request, o.ttl, o.put)
	case o.Kind == Acquire:
		// The undo is in the lanes before the asker hears "no": some clients
		// retry at once with the same token, and must not meet their own leftovers.
		e.undo(o, c, now)
		if d == Split {
			e.splits.Add(1)
			if o.attempt < e.SplitRetries {
				e.again(o)
				return false
			}
		}
	case o.Kind == Release, o.Kind == Remove:
		if d == Won {
			e.holds.end(&o.Request)
		}
		for i := range e.lanes {
			e.oweRelease(o, c, i, now)
		}
	case o.Kind == Extend && d == Won:
		for i := range e.lanes {
			e.heal(o, c, i)
		}
	case o.Kind == Extend && o.first != nil:
		for i := range e.lanes {
			e.unpersist(o, c, i, now)
		}
	}
	e.inFlight.Add(-1)
	o.asker.Answer(o.result(c))
	return true
}

// late acts on a vote that came after the decision.
func (e *Engine) late(o *op, c counted, i int, now time.Time) {
	d := c.decision()
	switch {
	case o.Kind == Acquire && d != Won:
		if c.did(i) {
			e.lanes[i].owe(o.undoing(now), now)
		}
	case o.Kind == Release, o.Kind == Remove:
		if c.vote(i) != Granted {
			e.oweRelease(o, c, i, now)
			return
		}
		// Now it is known how long the lock could have lived.
		for j := range e.lanes {
			e.oweRelease(o, c, j, now)
		}
	case o.Kind == Extend && d == Won:
		e.heal(o, c, i)
	case o.Kind == Extend && o.first != nil:
		e.unpersist(o, c, i, now)
	}
}

// undo takes a lost acquire back from every master that carried it out. A
// master that refused holds somebody else's lock, perhaps under the same token:
// clients do lock with a constant. It is left alone, and so is one whose vote
// is unknown until its grant is known.
func (e *Engine) undo(o *op, c counted, now time.Time) {
	for i, l := range e.lanes {
		if c.did(i) {
			l.owe(o.undoing(now), now)
		}
	}
}

func (o *op) undoing(now time.Time) debt {
	return debt{key: o.Key, value: o.Token, until: now.Add(o.ttl + drift(0))}
}

// oweRelease owes a release to master i if its vote is unknown. Without a
// master that has released the lock it is not known how long it could live, and
// nothing can be owed.
func (e *Engine) oweRelease(o *op, c counted, i int, now time.Time) {
	if c.vote(i) != Unknown {
		return
	}
	d := debt{key: o.Key, value: o.Token}
	if o.Kind == Remove {
		s, _ := o.held(c)
		if !s.named {
			return
		}
		d.value = s.value
	}
	known := false
	for j := range o.said {
		if c.vote(j) != Granted {
			continue
		}
		known = true
		if o.said[j].left == saysNoTTL {
			d.eternal = true
			continue
		}
		// Another master may have carried the same command out later, by as
		// much as a batch may stay unanswered.
		left := time.Duration(o.said[j].left)*time.Millisecond + e.MasterTimeout
		if until := now.Add(left + drift(left)); until.After(d.until) {
			d.until = until
		}
	}
	if known {
		e.lanes[i].owe(d, now)
	}
}

// heal gives the key again to master i, which had lost it when the lock was
// extended.
func (e *Engine) heal(o *op, c counted, i int) {
	if c.vote(i) == Refused && o.said[i].absent {
		e.lanes[i].heal(o)
	}
}

// persist is the second step of an acquire without ttl.
func (e *Engine) persist(o *op) {
	e.try(&op{
		Request: Request{Kind: Extend, Key: o.Key, Token: o.Token},
		asker:   o.asker,
		first:   o,
	})
}

// unpersist takes an acquire without ttl back whose second step failed. Master
// i may hold it with its short ttl, or without any.
func (e *Engine) unpersist(o *op, c counted, i int, now time.Time) {
	if c.did(i) || o.first.ballot.load().did(i) {
		d := o.first.undoing(now)
		d.eternal = true
		e.lanes[i].owe(d, now)
	}
}

// again has a split acquire tried once more after a random delay. Until then it
// stays in flight.
func (e *Engine) again(o *op) {
	least := e.SplitDelay / 5
	delay := least + rand.N(e.SplitDelay-least+1)
	e.retries.add(
		&op{Request: o.Request, asker: o.asker, attempt: o.attempt + 1},
		time.Now().Add(delay))
}

// elapsed is the engine's clock.
func (e *Engine) elapsed() time.Duration { return time.Since(e.start) }

// clock is the median of the masters' clocks as far as they are known.
func (e *Engine) clock() (now time.Time, known bool) {
	var clocks []int64
	for _, l := range e.lanes {
		if c := l.clock.Load(); c != 0 {
			clocks = append(clocks, c)
		}
	}
	if len(clocks) == 0 {
		return time.Now(), false
	}
	slices.Sort(clocks)
	return time.UnixMicro(clocks[len(clocks)/2]).Add(e.elapsed()), true
}

// Now is the time by the masters' clocks: their median, carried on by the
// engine's own monotonic clock. Before any master has answered it is the
// proxy's.
func (e *Engine) Now() time.Time {
	now, _ := e.clock()
	return now
}

// claim notes which server a lane has reached. If another lane is connected to
// the same one, it returns that master's name: one server has one vote.
func (e *Engine) claim(i int, runID string) (twin string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for j, id := range e.claims {
		if j != i && id == runID {
			return e.Masters[j].Name
		}
	}
	e.claims[i] = runID
	return ""
}

func (e *Engine) unclaim(i int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.claims[i] = ""
}

func (e *Engine) laneTried() {
	if e.untried.Add(-1) == 0 {
		close(e.tried)
	}
}

// Tried is closed once every master has been tried once, with success or not.
func (e *Engine) Tried() <-chan struct{} { return e.tried }

// Ready tells whether a quorum can vote.
func (e *Engine) Ready() bool {
	voting := 0
	for _, l := range e.lanes {
		l.mu.Lock()
		if l.open {
			voting++
		}
		l.mu.Unlock()
	}
	return voting >= quorumOf(len(e.lanes)) && !e.closing.Load()
}

// Status is a picture of the engine.
func (e *Engine) Status() Status {
	s := Status{
		Quorum:      quorumOf(len(e.lanes)),
		Splits:      e.splits.Load(),
		OverMaxTTL:  e.overTTL.Load(),
		MaxHoldEnds: e.held.Load(),
		InFlight:    int(e.inFlight.Load()),
	}
	for k := range e.decisions {
		for d := range e.decisions[k] {
			s.Decisions[k][d] = e.decisions[k][d].Load()
		}
	}
	for _, l := range e.lanes {
		s.Masters = append(s.Masters, l.status())
		s.Undos += l.undos.Load()
		s.Heals += l.heals.Load()
		s.DebtsOwed += l.owed.Load()
		s.DebtsPaid += l.paid.Load()
		s.DebtsDropped += l.dropped.Load()
	}
	return s
}

// Close ends the engine. New requests are answered with Unavailable at once;
// those under way are decided, what is queued is sent and debts to masters that
// can be reached are paid, until ctx ends. When Close returns, all goroutines
// of the engine have ended.
func (e *Engine) Close(ctx context.Context) {
	e.closing.Store(true)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for e.busy() && ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	e.cancel()
	e.wait.Wait()
}

func (e *Engine) busy() bool {
	return e.inFlight.Load() > 0 || slices.ContainsFunc(e.lanes, (*lane).busy)
}
