package members

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// server is one of the old set, the new one or both.
type server struct {
	master   master.Master // as the new set has it, if it is in both
	old, new bool
	was      string // its name in the old set
	who      marker.Identity
	count    int                            // of databases
	log      string                         // that it writes, by its marker, if it is durable
	others   map[string]string              // which logs the others write, by the same
	parts    [quorum.Databases]part         // by its marker in each database
	nonces   [quorum.Databases]marker.Nonce // of that marker
}

// changeRun makes a new set of masters of an old one.
type changeRun struct {
	plan
	set     master.Set // the new one
	servers []*server
	absent  []string // of the old set
	tell    func(string)
	closed  *bool // a master of the old set is marked for the new one, or may be
}

// Change makes the masters of set what those of old were, so that
// every lock that is held stays held: each of the new ones is given the locks of so
// many of the old ones that no lock can be missing, before any of them may vote. No
// proxy may serve meanwhile; those of the old set that do all the same find no
// quorum any more.
//
// All of the new masters must be there, and of the old ones a blocking minority that
// remembers. If it fails or is ended on the way it can be ordered again, and must
// be: from when the first old master is marked there is no way back: ErrHalfChanged is in the error then. Several may order
// the same at once.
func Change(ctx context.Context, old []master.Master, set master.Set, how Changing) error {
	if how.Tell == nil {
		how.Tell = func(string) {}
	}
	closed := false
	for round := 1; ; round++ {
		err := changeOnce(ctx, old, set, how, &closed)
		if round == maxRounds || !errors.Is(err, errMeanwhile) {
			if err != nil && closed {
				err = halfChanged{err}
			}
			return err
		}
		how.Tell(err.Error() + "; tried again")
		clock.Pause(ctx, rand.N(set.ProbeInterval))
	}
}

// Changing is how Change goes about it.
type Changing struct {
	// EvenSo has it go on although proxies are connected to the old set's masters. They
	// grant nothing more from when these are marked.
	EvenSo bool

	// Tell, if not nil, hears how it goes on, one line at a time.
	Tell func(string)
}

// errMeanwhile is in what went wrong since something has changed after it was looked at.
// The same order succeeds.
var errMeanwhile = errors.New("it was changed meanwhile")

// ErrHalfChanged is what an error is from when a master of the old set is marked for the new
// one, or may be. The same order goes on from there.
var ErrHalfChanged = errors.New("the set is changed in part")

type halfChanged struct{ error }

func (halfChanged) Is(err error) bool { return err == ErrHalfChanged }
func (e halfChanged) Unwrap() error   { return e.error }

// changeOnce notes in closed that there is no way back to the old set.
func changeOnce(ctx context.Context, old []master.Master, set master.Set, how Changing, closed *bool) error {
	tell := how.Tell
	r := &changeRun{
		set:    set,
		plan:   plan{Terms: set.Terms()},
		tell:   tell,
		closed: closed,
	}
	for _, m := range old {
		r.old = append(r.old, m.Name)
	}
	slices.Sort(r.old)
	if err := r.meet(ctx, old); err != nil {
		return err
	}
	if err := r.learnAll(ctx); err != nil {
		return err
	}
	*closed = *closed || slices.ContainsFunc(r.servers, (*server).closed)
	if r.finished() {
		tell("the set was changed before: there is nothing left to do")
		return nil
	}
	if err := r.enough(); err != nil {
		return err
	}
	if err := r.unserved(ctx, how.EvenSo); err != nil {
		return err
	}
	for _, name := range r.absent {
		tell("master " + name + " of the old set is not there: it keeps its old marker, and the others are enough")
	}
	// The old set goes on until all else is ready.
	for _, s := range slices.SortedFunc(slices.Values(r.servers), inTurn) {
		if err := r.mark(ctx, s, r.begin); err != nil {
			return err
		}
	}
	tell("the old set is closed: its masters are marked for the new one")
	clock.Pause(ctx, r.set.Apart()) // what a proxy has lost since is undone or put back
	if err := r.fillAll(ctx); err != nil {
		return err
	}
	for _, s := range r.servers {
		if s.old {
			if err := r.mark(ctx, s, r.give); err != nil {
				return err
			}
		}
	}
	for _, s := range r.servers {
		if s.new {
			if err := r.mark(ctx, s, r.admit); err != nil {
				return err
			}
		}
	}
	return nil
}

// of is an error about one master.
func of(name string, err error) error { return fmt.Errorf("master %s: %w", name, err) }
