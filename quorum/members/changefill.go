package members

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// fillAll gives every master of the new set what those of the old set hold, side by
// side.
func (r *changeRun) fillAll(ctx context.Context) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	errs := make([]error, len(r.servers))
	tell := r.tell
	r.tell = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		tell(text)
	}
	began := r.set.Boot()
	for i, s := range r.servers {
		if !s.new {
			continue
		}
		wait.Go(func() {
			keys := int64(0)
			for db := range s.count {
				if !s.parts[db].voted() && errs[i] == nil {
					var n int64
					n, errs[i] = r.fill(ctx, s, db, began)
					keys += n
				}
			}
			switch {
			case errs[i] != nil:
			case slices.Contains(s.parts[:s.count], left):
				r.tell(fmt.Sprintf("master %s may have lost what it granted since: proxies let it vote when it has caught up", s.master.Name))
			default:
				r.tell(fmt.Sprintf("master %s holds the locks of the old set: %d keys were given to it", s.master.Name, keys))
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// fill gives a server what those of the old set hold in one database. It waits until
// that is so, but no longer than locks within max-ttl can live.
func (r *changeRun) fill(ctx context.Context, s *server, db int, began time.Duration) (keys int64, err error) {
	var from []catchup.Source
	for _, o := range r.servers {
		if o.old && o.parts[db].source() {
			from = append(from, source(o, db))
		}
	}
	told, wait := "", r.set.ProbeInterval
	ends := began + r.set.QuarantineTime()
	for {
		left := ends - r.set.Boot()
		var progress catchup.Progress
		err := catchup.Run(ctx, catchup.Target{
			Source:   source(s, db),
			Needed:   r.needed(),
			Closed:   true,
			Last:     left <= 0,
			Lease:    marker.NewInstallation(),
			Ends:     ends,
			Released: new(catchup.Released),
			Progress: &progress,
		}, from, catchup.TimesOf(&r.set))
		switch {
		case ctx.Err() != nil:
			return 0, of(s.master.Name, ctx.Err())
		case err == nil:
			return progress.Copied.Load(), nil
		case errors.Is(err, catchup.ErrOtherNonce):
			return 0, of(s.master.Name, fmt.Errorf("database %d: %w: %w", db, errMeanwhile, err))
		case left <= 0:
			r.tell(of(s.master.Name, fmt.Errorf("database %d: it could not be given all locks that outlive max-ttl: %w", db, err)).Error())
			return progress.Copied.Load(), nil
		case err.Error() != told:
			told = err.Error()
			r.tell(of(s.master.Name, fmt.Errorf("database %d: %w; tried again for %v", db, err, left.Round(time.Second))).Error())
		}
		// Of two that order the same each would take the other's place for ever.
		if errors.Is(err, catchup.ErrOtherLease) {
			wait = rand.N(2 * wait)
			wait += r.set.ProbeInterval
		}
		clock.Pause(ctx, wait)
	}
}

// source is what a catch-up knows a server by.
func source(s *server, db int) catchup.Source {
	m := s.master
	m.DB = db
	return catchup.Source{Master: &m, Nonce: s.nonces[db]}
}
