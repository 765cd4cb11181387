package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/messages"
)

// Engine puts requests to the masters and tells what they decided.
type Engine struct {
	Config
	log   hclog.Logger
	name  string // which no other proxy has, nor this one after a restart
	lanes []*lane
	start time.Time
	holds holds
	sizes sizes

	seed   maphash.Seed
	shards [shards]shard

	tried     chan struct{} // closed when every master has been tried once
	untried   atomic.Int32
	closing   atomic.Bool
	cancel    context.CancelFunc
	wait      sync.WaitGroup
	decisions [quorum.Survey + 1][quorum.Unavailable + 1]atomic.Uint64
	splits    atomic.Uint64
	overTTL   atomic.Uint64
	shared    atomic.Uint64
	guarded   atomic.Int64 // flights, see guard
	held      atomic.Uint64
	inFlight  atomic.Int64
	latestTTL atomic.Pointer[ttlText]

	apart  atomic.Int64  // by how much our clocks differ, which grows when the machine sleeps
	sleeps atomic.Uint64 // how often it has slept

	retries retries

	steps    atomic.Uint64 // how many were tried
	turns    turns
	awaiting awaiting
	behind   behind

	hand      sync.Mutex // the operator's: one order at a time
	missing   missing    // the sweeper's
	root      *Engine    // of another database than 0: the engine of that
	databases databases
	used      atomic.Bool   // of another database: a client has asked for it
	made      time.Duration // when the engine was, by our clock

	messages      *messages.Bus // one for all databases
	subscriptions *messages.Subscriptions

	trust

	mu     sync.Mutex // guards claims
	claims []string   // run id of each lane's master, "" while it has no link
}

// New starts an engine: its lanes begin to connect at once. Masters may be down.
func New(cfg Config, log hclog.Logger) *Engine { return newEngine(cfg, log, nil) }

// newEngine is New for a database: that of root, if it is another than 0.
func newEngine(cfg Config, log hclog.Logger, root *Engine) *Engine {
	ctx, cancel := context.WithCancel(context.Background())
	if root == nil {
		cfg.Masters = slices.Clone(cfg.Masters)
		for i := range cfg.Masters {
			cfg.Masters[i].Rooms = master.NewRooms(cfg.Memory, len(cfg.Masters))
		}
	}
	e := &Engine{
		Config:  cfg,
		log:     log,
		name:    newName(),
		start:   time.Now(),
		holds:   holds{most: cfg.MaxHold},
		seed:    maphash.MakeSeed(),
		tried:   make(chan struct{}),
		cancel:  cancel,
		retries: retries{kick: make(chan struct{}, 1)},
		claims:  make([]string, len(cfg.Masters)),
		root:    root,
		trust:   trust{terms: cfg.Terms()},
	}
	e.untried.Store(int32(len(cfg.Masters)))
	e.watchOwnClock()
	e.made = e.Boot()
	e.apart.Store(int64(e.made))
	for i, m := range e.equip(cfg.Masters) {
		e.lanes = append(e.lanes, &lane{
			engine: e,
			index:  i,
			master: m,
			log:    log.With("master", m.Name),
			state:  quorum.Connecting,
			since:  e.start,
			watch:  new(clock.Watch),
			queue:  queue{wake: make(chan struct{}, 1), debts: debts{room: &m.Rooms.Debts}},
		})
		e.lanes[i].keeper.lane, e.lanes[i].queue.lane = e.lanes[i], e.lanes[i]
		if root != nil {
			e.lanes[i].follow(root.lanes[i])
		}
		if root != nil && root.lanes[i].isDrained() {
			e.lanes[i].drain()
		}
	}
	if root == nil {
		e.messages = messages.New(e.name, e.carry)
		e.wait.Go(e.messages.Run)
		context.AfterFunc(ctx, e.messages.Close)
	} else {
		e.messages = root.messages
	}
	e.subscriptions = messages.NewSubscriptions(func() {
		for i := range e.lanes {
			e.wait.Go(func() { e.listen(ctx, i) })
		}
	})
	for _, l := range e.lanes {
		e.wait.Go(func() { l.run(ctx) })
		if !e.alone() {
			e.wait.Go(func() { l.freeOfEternal(ctx) })
		}
	}
	e.wait.Go(func() { e.sweep(ctx) })
	if root == nil && !e.alone() {
		e.wait.Go(func() { e.tend(ctx) })
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
func (e *Engine) Put(r *quorum.Request, asker quorum.Asker) {
	if r.DB != 0 {
		if d := e.database(r.DB); d != nil {
			e = d
		}
	}
	o := newOp(r, asker)
	o.began = time.Now()
	switch {
	case o.Kind == quorum.Acquire && e.join(o):
	case o.IsStep() && e.takeTurn(o):
	default:
		e.try(o, o.began)
	}
}

// try is one attempt at a request. The op is not the caller's any more.
func (e *Engine) try(o *op, now time.Time) {
	n := len(e.lanes)
	o.engine, o.put, o.sleeps = e, now, e.sleeps.Load()
	if len(o.Said) != n {
		o.Said, o.sent = make([]decide.Said, n), make([]sending, n)
	}
	if !e.ready(o) {
		o.flusher.Flush()
		o.drop()
		return
	}
	e.inFlight.Add(1)
	missed, waits := e.push(o)
	if waits {
		return
	}
	defer o.drop()
	if missed == 0 {
		return
	}
	answered := false
	for i := range e.lanes {
		if v := missed.Vote(i); v != 0 {
			answered = o.vote(i, v, false, o.put) || answered
		}
	}
	if answered {
		o.flusher.Flush()
	}
}

// push puts an op into all lanes in one step, and returns the votes of those that
// did not take it. Or it has the op wait, which counts as in flight.
func (e *Engine) push(o *op) (missed decide.Votes, waits bool) {
	hash := e.hash(o.Key)
	o.hash = hash
	o.takeWeight()
	if o.memory = memoryOf(hash); o.Kind == quorum.Release || o.Kind == quorum.Acquire {
		o.lock = o.lockMemory()
	}
	switch {
	case len(o.Keys) < 2 && o.Kind != quorum.Survey:
		mu := &e.shards[hash%shards].mu // the rule, and cheaper
		mu.Lock()
		defer mu.Unlock()
	case o.Flushes():
		defer e.spoilFlushed(&o.Request)()
	default:
		defer e.lock(&o.Request)()
	}
	if e.follow(o) {
		return 0, true
	}
	if o.Kind == quorum.Acquire {
		o.flight.begin()
	}
	e.spoil(o)
	for i, l := range e.lanes {
		if !o.Asks(i) {
			missed = missed.Voted(i, quorum.Withheld, false)
		} else if v := l.queue.push(o); v != 0 {
			missed = missed.Voted(i, v, false)
		}
	}
	return missed, false
}

// ready works out the times of an op. If there is nothing to ask the masters,
// it answers and returns false.
func (e *Engine) ready(o *op) bool {
	if e.closing.Load() && o.first == nil {
		return e.answer(o, quorum.Result{Decision: quorum.Unavailable, Why: "this proxy is shutting down"})
	}
	ttl := o.TTL
	if o.At != 0 {
		now, known := e.Now()
		if !known {
			return e.answer(o, quorum.Result{Decision: quorum.Unavailable, NoTime: true})
		}
		ttl = time.UnixMilli(o.At).Sub(now)
		if ttl <= 0 && !o.end() {
			return e.answer(o, quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{
				Kind: quorum.FailureReply, Str: "ERR invalid expire time in 'set' command",
			}})
		}
	}
	eternal := ttl == 0 && o.At == 0
	switch o.Kind {
	case quorum.Acquire, quorum.Extend, quorum.Write:
		if o.attempt == 0 && o.first == nil && o.follows == 0 && (ttl > e.MaxTTL || eternal && o.Kind != quorum.Write) {
			e.overTTL.Add(1)
		}
	}
	if o.Kind == quorum.Extend && o.first == nil && !e.holds.extends(&o.Request, max(ttl, 0), o.put) {
		e.held.Add(1)
		return e.answer(o, quorum.Result{Decision: quorum.Contended})
	}
	if o.Kind == quorum.Acquire && eternal {
		// It is set with a short ttl, and loses that once it is won: what it
		// leaves behind where it fails dies by itself.
		ttl = 4*e.AcquireTimeout + e.MasterTimeout
	}
	o.patience = e.AcquireTimeout
	if o.Kind != quorum.Write { // which wins no lock
		o.patience = clock.Patience(e.AcquireTimeout, ttl)
	}
	if o.patience -= o.waited(); o.patience <= 0 && o.Kind != quorum.Release && o.Kind != quorum.Remove && o.first == nil {
		// It has only waited, and its time is up.
		e.decisions[o.Kind][quorum.Unavailable].Add(1)
		return e.answer(o, quorum.Result{Decision: quorum.Unavailable, Shortest: e.tooShort(o.patience + o.waited())})
	}
	o.prepare(ttl)
	return true
}

// end makes of a request whose time has passed already what it amounts to. It
// returns false if it amounts to nothing that could be done.
func (o *op) end() bool {
	switch {
	case o.Kind == quorum.Extend:
		o.Kind, o.At = quorum.Release, 0
	case o.Kind == quorum.Write && o.Args[0] == "PEXPIRE" && len(o.Args) == o.TTLArg+1:
		o.Kind, o.At = quorum.Remove, 0
	case o.Kind == quorum.Write && o.Args[0] == "PEXPIRE": // whether flags forbid it only the masters know
		o.Args = slices.Clone(o.Args)
		o.Args[o.TTLArg] = "-1"
		o.TTLArg, o.At = 0, 0
	default:
		return false
	}
	return true
}

func (e *Engine) answer(o *op, r quorum.Result) bool {
	r.Needed, r.Masters = quorum.QuorumOf(len(e.lanes)), len(e.lanes)
	if r.Decision == quorum.Unavailable {
		s := e.shortage(nil, nil)
		r.Voted = s.can
		if r.Why == "" {
			r.Why = s.String()
		}
	}
	e.finish(o, r)
	return false
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

// claimed is the run id of the server that lane i is connected to, "" if none.
func (e *Engine) claimed(i int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.claims[i]
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

// Close ends the engine. New requests are answered with Unavailable at once;
// those under way are decided, what is queued is sent and debts to masters that
// can be reached are paid, until ctx ends. When Close returns, all goroutines
// of the engine have ended.
func (e *Engine) Close(ctx context.Context) {
	e.closing.Store(true)
	e.closeDatabases(ctx)
	e.subscriptions.Close()
	failures := make([]uint64, len(e.lanes))
	for i, l := range e.lanes {
		failures[i] = l.failures.Load()
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for e.busy(failures) && ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	e.cancel()
	e.wait.Wait()
}

// busy tells whether there is something left to do that can be done. A master
// that is owed something is given one more chance to be reached.
func (e *Engine) busy(failures []uint64) bool {
	for i, l := range e.lanes {
		if l.queue.busy(l.failures.Load() == failures[i]) {
			return true
		}
	}
	return e.inFlight.Load() > 0
}
