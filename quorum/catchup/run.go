package catchup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// Bounds of a catch-up, and of the load that it is for the sources.
const (
	// maxBreather is the longest that the sources are left alone between two pages.
	maxBreather = 4 * time.Millisecond

	// MaxDisputed is how many keys may be disputed at a time: one more ends the run.
	MaxDisputed = 4096
	// disputedLong is for how long what is under way is waited for, about, before others are told of it.
	disputedLong = 100 * time.Millisecond
	// emptiedPatience is for how many times as long as a decision takes it is waited for that what one source lacks
	// goes elsewhere, or comes there, see emptied.
	emptiedPatience = 8
	// maxEternal is how many keys without a ttl are looked at once more in the end.
	maxEternal = 16 << 10
	// maxNameBytes is what the names come to of the keys that are remembered, of each kind.
	maxNameBytes = 32 << 20

	// LeaseTime is how long a run that has ended without a word keeps others from the master,
	// unless it is one of their Rivals.
	LeaseTime = 10 * time.Second
)

// leaseFor is LeaseTime as scripts are told it.
var leaseFor = strconv.FormatInt(clock.Milliseconds(LeaseTime), 10)

var (
	// ErrDisputed says that of some key it cannot be told what is to be held of it, as those
	// who might know hold different values.
	ErrDisputed = errors.New("masters hold different values of a key")

	// errUngiven says that the master was given all but some keys, which are too long or which
	// it does not take.
	errUngiven = errors.New("all but some keys were given")

	errTooManyDisputed = fmt.Errorf("masters hold different values of more than %d keys", MaxDisputed)
)

// Ungiven tells of an error of Run that nothing but keys which cannot be given kept the master
// from having all: what is too long, or what it does not take. They mostly stay so until they
// end.
func Ungiven(err error) bool { return errors.Is(err, errUngiven) }

// Target is a quarantined master that is to be given what it lost, and how that is to be done.
type Target struct {
	Source

	Needed int    // how many sources have to be read to their end
	Closed bool   // nobody asks the sources for votes any more
	Last   bool   // the master is admitted afterwards in any case
	Lease  string // names this run
	Rivals string // what the names of those runs begin with that it may end: "" are all

	Ends     time.Duration // when its quarantine does, by Times.Boot
	Released *Released     // what is released meanwhile, as the caller notes it
	Progress *Progress     // which Run sets, from nothing on; any goroutine may read it

	// Begins hears, once the sources are met, what they tell of all masters' logs. It may be nil.
	Begins func(logs map[string]string)
	// Disputes hears, again and again while Run waits for them, of keys that the sources hold apart: whoever sets right
	// what masters have missed is to look at them. It may be nil.
	Disputes func(keys []string)
	// Forbids hears in the end of each master that does not let its user touch some keys: how
	// many, and one of them. It may be nil.
	Forbids func(m Source, keys int, one string)
}

// Progress is how far a catch-up has come.
type Progress struct {
	Copied  atomic.Int64 // keys given to the master
	Sources atomic.Int64 // masters read to their end
	Needed  atomic.Int64 // how many have to be
}

// run gives one quarantined master what others hold.
//
// The sources are the same for the whole run: each key is read on all of them. So
// whether they agree is seen at once, and a key that was given need not be read again
// when the next source names it, too. A source that is lost on the way ends the run,
// and what was copied is no harm.
type run struct {
	Target
	peers

	disputed map[string]bool   // keys to be read again
	doubtful int               // bytes of their names
	overflow bool              // there were more
	eternal  map[string]string // keys given without a ttl, and their digests
	lasting  int               // bytes of their names, or more
	patience time.Duration     // until when it is waited for what one source may have emptied, by times.Boot
	failed   error             // why the last of those that could not be copied was not
	copying  time.Duration     // how long the sources were left alone for it so far
	handled  keySet            // of what need not be read again
}

// Run gives the target every live key of at least as many sources as it needs, and returns nil
// when that is so: then it may be admitted while its nonce is there. Any lock that the
// master had voted for before its loss is on one of so many, so that it holds it again. If
// this is the last attempt, because the quarantine is over, the keys of what masters can be
// reached are copied, be they fewer; the error says that they were. Run ends early when ctx
// does.
//
// ErrOtherNonce is in the error where a master is not the one any more that was meant,
// ErrOtherLease where another run has the target, and ErrDisputed where the sources did not agree
// in time. What was copied by then is no harm.
func Run(ctx context.Context, t Target, from []Source, times Times) error {
	r := &run{
		Target:   t,
		peers:    peers{times: times, needed: t.Needed},
		disputed: make(map[string]bool),
		eternal:  make(map[string]string),
		handled:  newKeySet(),
	}
	r.patience = times.Boot() + emptiedPatience*times.Decision
	r.Progress.Copied.Store(0)
	r.Progress.Sources.Store(0)
	r.Progress.Needed.Store(int64(r.Needed))
	r.Released.start()
	defer r.Released.stop()
	defer r.leave()
	defer r.tellForbidden()
	if err := r.gather(ctx, from, r.Last); err != nil {
		return err
	}
	if err := r.takeLease(ctx); err != nil {
		return err
	}
	logs, err := r.logs()
	if err != nil && !r.Last {
		return err
	}
	if r.Begins != nil {
		r.Begins(logs)
	}
	for _, s := range r.sources[:min(r.needed, len(r.sources))] {
		if err := r.follow(ctx, s); err != nil {
			return err
		}
		r.Progress.Sources.Add(1)
	}
	return r.finish(ctx)
}

// takeLease connects to the master and takes the lease. A rival's run loses it.
func (r *run) takeLease(ctx context.Context) (err error) {
	if r.target, err = r.times.meet(ctx, r.Source); err != nil {
		return err
	}
	_, err = r.target.change(LeaseScript, nil, []string{r.Lease, leaseFor, r.Rivals})
	return err
}

// logs are what the sources tell of the others' logs, which stands on the master no more.
func (r *run) logs() (logs map[string]string, err error) {
	markers, err := onAll(r.sources, func(p *peer) (marker.Marker, error) {
		m, _, err := p.marker()
		return m, err
	})
	for _, m := range markers {
		logs = marker.MergeLogs(logs, m.Others)
	}
	return logs, err
}

// follow reads a source to its end, and gives the master what it holds.
//
// A key that comes after the SCAN has passed was acquired without the master's
// vote, and needs no copy.
//
// After each page the sources are left alone for half as long as they were kept busy,
// of which the time counts in which the master was given the keys.
func (r *run) follow(ctx context.Context, s *peer) error {
	for cursor := "0"; ; {
		began, before := time.Now(), r.copying
		keys, next, err := s.page(cursor)
		if err != nil {
			return err
		}
		if err := r.give(r.handled.without(keys), s); err != nil {
			return err
		}
		if cursor = next; cursor == "0" {
			return nil
		}
		copying := r.copying - before
		busy := time.Since(began) - copying
		clock.Pause(ctx, min(busy/2, maxBreather)-copying)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// finish waits for what the sources disagree on, and looks once more at what
// would stay for ever.
func (r *run) finish(ctx context.Context) error {
	err := r.awaitAgreement(ctx)
	if err != nil && !r.Last {
		return err
	}
	if err := r.recheckEternal(); err != nil {
		return err
	}
	if err == nil {
		err = r.awaitAgreement(ctx)
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
	if _, err := onAll(r.sources, (*peer).lookAgain); err != nil {
		return err
	}
	if r.failed != nil {
		return fmt.Errorf("%w: %w", errUngiven, r.failed)
	}
	return nil
}

// awaitAgreement reads disputed keys again until the sources agree. They do so when what
// was under way has arrived everywhere, or a leftover has run out. It gives up when
// the quarantine is over.
func (r *run) awaitAgreement(ctx context.Context) error {
	if r.overflow {
		return errTooManyDisputed
	}
	wait := 10 * time.Millisecond
	for len(r.disputed) > 0 {
		if r.Last && wait >= time.Second || !r.Last && r.times.Boot() >= r.Ends {
			return ErrDisputed
		}
		clock.Pause(ctx, wait)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		wait = min(2*wait, time.Second)
		keys := slices.Collect(maps.Keys(r.disputed))
		if wait >= disputedLong && r.Disputes != nil {
			r.Disputes(keys)
		}
		clear(r.disputed)
		r.doubtful = 0
		if err := r.give(keys, nil); err != nil {
			return err
		}
	}
	return nil
}

// recheckEternal looks again at what the master was given without a ttl: its release may
// have passed the master before the copy did, and the sources after it. What
// nobody holds any more is taken back; of what is another lock's by now, the master
// is given that.
func (r *run) recheckEternal() error {
	list := make([]given, 0, len(r.eternal))
	for key, digest := range r.eternal {
		list = append(list, given{key, digest})
	}
	r.eternal, r.lasting = make(map[string]string), 0
	for len(list) > 0 {
		n := bundle(list, keyOfGiven)
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
