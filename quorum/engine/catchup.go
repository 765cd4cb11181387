package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// Bounds of a catch-up, and of the load that it is for the sources.
const (
	pageKeys  = 400     // of one script, about
	pageBytes = 1 << 20 // of one script, or one key
	// maxBreather is the longest that the sources are left alone between two pages.
	maxBreather = 4 * time.Millisecond

	maxDisputed = 4096
	maxEternal  = 16 << 10
	// maxNameBytes is what the names come to of the keys that are remembered, of each kind.
	maxNameBytes = 32 << 20

	leaseTime = 10 * time.Second
)

// leaseFor is leaseTime as scripts are told it.
var leaseFor = strconv.FormatInt(clock.Milliseconds(leaseTime), 10)

var (
	errDisputed        = errors.New("masters hold different values of a key")
	errTooManyDisputed = fmt.Errorf("masters hold different values of more than %d keys", maxDisputed)
)

// catchUpRun gives one quarantined master what others hold.
//
// The sources are the same for the whole run: each key is read on all of them. So
// whether they agree is seen at once, and a key that was given need not be read again
// when the next source names it, too. A source that is lost on the way ends the run,
// and what was copied is no harm.
type catchUpRun struct {
	engine  *Engine
	ward    *quarantine
	target  *party
	sources []*party
	needed  int  // sources to be read to their end
	last    bool // the master is admitted afterwards in any case
	lease   string

	disputed []string          // keys to be read again
	doubtful int               // bytes of their names
	overflow bool              // there were more
	eternal  map[string]string // keys given without a ttl, and their digests
	lasting  int               // bytes of their names, or more
	failed   error             // why the last of those that could not be copied was not
	copying  time.Duration     // how long the sources were left alone for it so far
	unclear  bool              // it may be that somebody holds what the others hold another value of
	noted

	closed bool // nobody asks the sources for votes any more

	eternalOnly  bool // of ghosts those without a ttl are looked for; see eternal.go
	before, seen seenGhosts
}

// catchUp gives the master of a lane, quarantined by q, every live key of at least
// N-quorum+1 of the masters that may vote, and returns nil when that is so: then it
// may be admitted while the nonce of q is there. Any lock that the master had
// voted for before its loss is on one of these, so that it holds it again. If this
// is the last attempt, because the quarantine is over, the keys of what masters can
// be reached are copied, be they fewer; the error says that they were. catchUp ends
// early when ctx does.
func (e *Engine) catchUp(ctx context.Context, l *lane, q *quarantine, last bool) error {
	from := supply{sources: e.sources(l), needed: sourcesNeeded(len(e.lanes)), rivals: e.name + "/"}
	if last {
		from.rivals = ""
	}
	return e.fill(ctx, l, q, from, last)
}

// supply is where a catch-up takes the keys from.
type supply struct {
	sources []source
	needed  int  // how many of them have to be read
	closed  bool // nobody asks them for votes any more

	// rivals is what the names of those runs begin with from which the lease is
	// taken: "" are all.
	rivals string
}

// fill is catchUp from a given supply.
func (e *Engine) fill(ctx context.Context, l *lane, q *quarantine, from supply, last bool) error {
	r := &catchUpRun{
		engine:  e,
		ward:    q,
		needed:  from.needed,
		closed:  from.closed,
		last:    last,
		lease:   e.name + "/" + newName(),
		eternal: make(map[string]string),
		noted:   newNoted(),
	}
	q.copied.Store(0)
	q.sources.Store(0)
	q.needed.Store(int64(r.needed))
	q.ended.watch()
	defer r.end()
	defer r.tellForbidden()
	if err := r.gather(ctx, from.sources); err != nil {
		return err
	}
	if err := r.begin(ctx, l, from.rivals); err != nil {
		return err
	}
	logs, err := r.logs()
	if err != nil && !last {
		return err
	}
	l.catching(q, true)
	l.hearLogs(q, logs)
	for _, s := range r.sources[:min(r.needed, len(r.sources))] {
		if err := r.follow(ctx, s); err != nil {
			return err
		}
		q.sources.Add(1)
	}
	return r.finish(ctx)
}

// gather connects to the sources: all that can be reached, for one that is not
// read could disagree.
func (r *catchUpRun) gather(ctx context.Context, list []source) error {
	parties := make([]*party, len(list))
	errs := make([]error, len(list))
	var wait sync.WaitGroup
	for i, s := range list {
		wait.Go(func() { parties[i], errs[i] = r.engine.meet(ctx, s) })
	}
	wait.Wait()
	var away error
	for i, p := range parties {
		if p != nil {
			r.sources = append(r.sources, p)
		} else {
			away = errs[i]
		}
	}
	switch {
	case len(r.sources) >= r.needed, len(r.sources) > 0 && r.last:
		return nil
	case away != nil:
		return fmt.Errorf("%w; %w", r.tooFew(), away)
	}
	return r.tooFew()
}

// tooFew says that what was read is not enough.
func (r *catchUpRun) tooFew() error {
	return fmt.Errorf("%d of the other masters can be read, %d are needed", len(r.sources), r.needed)
}

// begin connects to the master and takes the lease. An older run of this engine
// loses it; that of another proxy does so when the quarantine is over.
func (r *catchUpRun) begin(ctx context.Context, l *lane, rivals string) (err error) {
	if r.target, err = r.engine.meet(ctx, source{lane: l, nonce: r.ward.nonce}); err != nil {
		return err
	}
	_, err = r.target.change(leaseScript, nil, []string{r.lease, leaseFor, rivals})
	return err
}

// logs are what the sources tell of the others' logs, which stands on the master no more.
func (r *catchUpRun) logs() (logs map[string]string, err error) {
	markers, err := onAll(r.sources, func(p *party) (marker.Marker, error) {
		m, _, err := p.marker()
		return m, err
	})
	for _, m := range markers {
		logs = marker.AlsoTold(logs, m.Others)
	}
	return logs, err
}

func (r *catchUpRun) end() {
	r.ward.ended.rest()
	for _, p := range r.sources {
		p.leave()
	}
	if r.target != nil {
		r.target.leave()
	}
}

// follow reads a source to its end, and gives the master what it holds.
//
// A key that comes after the SCAN has passed was acquired without the master's
// vote, and needs no copy.
//
// After each page the sources are left alone for half as long as they were kept busy,
// of which the time counts in which the master was given the keys.
func (r *catchUpRun) follow(ctx context.Context, s *party) error {
	for cursor := "0"; ; {
		began, before := time.Now(), r.copying
		keys, next, err := s.page(cursor)
		if err != nil {
			return err
		}
		if err := r.give(r.unnoted(keys), s); err != nil {
			return err
		}
		if cursor = next; cursor == "0" {
			return nil
		}
		copying := r.copying - before
		busy := time.Since(began) - copying
		pause(ctx, min(busy/2, maxBreather)-copying)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// finish has the sources settle what they disagree on, and looks once more at what
// would stay for ever.
func (r *catchUpRun) finish(ctx context.Context) error {
	err := r.settle(ctx)
	if err != nil && !r.last {
		return err
	}
	if err := r.remember(); err != nil {
		return err
	}
	if err == nil {
		err = r.settle(ctx)
	}
	if err != nil {
		return err
	}
	// The master is as it was known all the while, or it is not admitted.
	if _, err := r.copy(nil); err != nil {
		return err
	}
	if len(r.sources) < r.needed {
		return r.tooFew()
	}
	if _, err := onAll(r.sources, (*party).lookAgain); err != nil {
		return err
	}
	return r.failed
}

// settle reads disputed keys again until the sources agree. They do so when what
// was under way has arrived everywhere, or a leftover has run out. It gives up when
// the quarantine is over.
func (r *catchUpRun) settle(ctx context.Context) error {
	if r.overflow {
		return errTooManyDisputed
	}
	wait := 10 * time.Millisecond
	for len(r.disputed) > 0 {
		if r.last && wait >= time.Second || !r.last && r.engine.quarantineTime() <= r.ward.lasted(r.engine.boot()) {
			return errDisputed
		}
		pause(ctx, wait)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		wait = min(2*wait, time.Second)
		keys := r.disputed
		r.disputed, r.doubtful = nil, 0
		if err := r.give(keys, nil); err != nil {
			return err
		}
	}
	return nil
}

// remember looks again at what the master holds without a ttl: its release may
// have passed the master before the copy did, and the sources after it. What
// nobody holds any more is taken back; of what is another lock's by now, the master
// is given that.
func (r *catchUpRun) remember() error {
	list := make([]given, 0, len(r.eternal))
	for key, digest := range r.eternal {
		list = append(list, given{key, digest})
	}
	r.eternal, r.lasting = make(map[string]string), 0
	for len(list) > 0 {
		n := bundle(list, nameOfGiven)
		changed, err := r.recheck(list[:n])
		if err == nil {
			err = r.give(changed, nil)
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}
