package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/master"
)

// trackedAtOnce is how many keys may be about to be watched at one master. What finds no room is not told of.
const trackedAtOnce = 4096

// refusedRest is after how long a master that does not tell of changes is asked again: it may have other rights then.
const refusedRest = time.Minute

// tracking is what an engine keeps of the keys that masters are to tell of.
type tracking struct {
	observer quorum.Observer // set before the first key is watched
	start    func()          // the goroutines, when that is
	once     sync.Once
	wanted   []chan watched // for each master

	mu     sync.Mutex // guards what follows
	stands []teller
	moved  chan struct{} // closed when one of these changes
}

// teller is whether a master tells of changes.
type teller uint8

const (
	unsaid teller = iota // it is away, or was not asked yet
	telling
	refusing // it cannot, or this proxy's user may not
)

// watched is a key that is to be, of a database.
type watched struct {
	db  int
	key string
}

func newTracking(masters int, start func()) *tracking {
	t := &tracking{start: start, wanted: make([]chan watched, masters), stands: make([]teller, masters), moved: make(chan struct{})}
	for i := range t.wanted {
		t.wanted[i] = make(chan watched, trackedAtOnce)
	}
	return t
}

// close has no goroutine begin any more.
func (t *tracking) close() { t.once.Do(func() {}) }

// Observe says who is told from now on that keys have changed. It is called once, before Watch.
func (e *Engine) Observe(o quorum.Observer) { e.tracking.observer = o }

// Watch has each master tell once when a key changes, by whomever, and at once if it is not in that database. Where the
// name is long, or a master cannot, is away, or has too many to tell of, it does not: what hangs on it is to be looked at
// now and then all the same.
func (e *Engine) Watch(db int, key string) {
	if key == "" || len(key) > master.LongestTracked || e.zero.closing.Load() {
		return
	}
	e.tracking.once.Do(e.tracking.start)
	for _, wanted := range e.tracking.wanted {
		select {
		case wanted <- watched{db, key}:
		default:
		}
	}
}

// Tells waits until a quorum tells of changes. It is an error where too few masters can, and none where that is not
// known by ctx's end: some are away.
func (e *Engine) Tells(ctx context.Context) error {
	if e.zero.closing.Load() {
		return nil
	}
	e.tracking.once.Do(e.tracking.start)
	for {
		tell, refuse, moved := e.tracking.count()
		masters := len(e.tracking.wanted)
		switch needed := quorum.QuorumOf(masters); {
		case tell >= needed:
			return nil
		case masters-refuse < needed:
			return fmt.Errorf("%d of %d masters tell of no changes, and %d have to", refuse, masters, needed)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil
		}
	}
}

// count is how many masters tell, and how many refuse to, until moved is closed.
func (t *tracking) count() (tell, refuse int, moved <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.stands {
		switch s {
		case telling:
			tell++
		case refusing:
			refuse++
		}
	}
	return tell, refuse, t.moved
}

// stand notes what becomes of master i.
func (t *tracking) stand(i int, s teller) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stands[i] != s {
		t.stands[i] = s
		close(t.moved)
		t.moved = make(chan struct{})
	}
}

// track is the life of the connection on which master i tells of changes, of keys that are watched, or of all. It ends
// when ctx does.
func (e *Engine) track(ctx context.Context, i int, all bool) {
	log := e.zero.lanes[i].log
	refused := false
	vain := 0 // connections in a row that have not lasted, to a master that has others
	for ctx.Err() == nil {
		rest := e.zero.ProbeInterval/8 + rand.N(e.zero.ProbeInterval/8)
		began := time.Now()
		t, err := e.trackOn(ctx, i, all)
		if err == nil {
			if refused {
				refused = false
				log.Info("master tells of changes now")
			}
			e.tells(i, all, true)
			err = e.tellChanges(ctx, t, i, all)
			t.Close()
			e.tells(i, all, false)
			log.Debug("tracking ended", "reason", master.ReasonOf(err))
		} else if errors.As(err, new(master.Refusal)) {
			if rest = refusedRest; !all {
				e.tracking.stand(i, refusing)
			}
			if !refused && !all {
				refused = true
				log.Info("master does not tell of changes: for who waits it is looked each second", "reason", master.ReasonOf(err))
			}
		}
		if vain++; e.zero.claimed(i) == "" || time.Since(began) >= refusedRest {
			vain = 0
		}
		clock.Pause(ctx, min(rest<<min(vain, 9), refusedRest))
	}
}

// tells notes that master i tells of changes from now on, or would tell of none any more. What was watched is not.
func (e *Engine) tells(i int, all, on bool) {
	switch {
	case all:
		e.tracking.observer.Broadcasts(i, on)
		return
	case on:
		e.tracking.stand(i, telling)
	default:
		e.tracking.stand(i, unsaid)
	}
	e.tracking.observer.Changed(i, "")
}

// trackOn has master i tell of changes, unless no command goes to that server.
func (e *Engine) trackOn(ctx context.Context, i int, all bool) (*master.Tracking, error) {
	dialing, cancel := context.WithTimeout(ctx, e.zero.ConnectTimeout)
	defer cancel()
	t, err := e.zero.Masters[i].Track(dialing, ctx, all)
	if err == nil && t.RunID != e.zero.claimed(i) {
		t.Close()
		return nil, errAnotherServer
	}
	return t, err
}

// tellChanges tells of what master i says, and asks it for what is to be watched, until the connection breaks.
func (e *Engine) tellChanges(ctx context.Context, t *master.Tracking, i int, all bool) error {
	changed, wanted := e.tracking.observer.Changed, e.tracking.wanted[i]
	if all {
		changed, wanted = e.tracking.observer.Broadcast, nil
	}
	over, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	asking.Go(func() {
		for {
			select {
			case w := <-wanted:
				if t.Ask(w.db, w.key, e.zero.MasterTimeout) != nil {
					t.Close() // which ends the reader
					return
				}
			case <-over.Done():
				return
			}
		}
	})
	for {
		if id := e.zero.claimed(i); id != "" && id != t.RunID {
			return errAnotherServer
		}
		if err := t.Wait(e.zero.ProbeInterval, e.zero.MasterTimeout); err != nil {
			return err
		}
		told, err := t.Next(e.zero.MasterTimeout)
		if err != nil {
			return err
		}
		for _, key := range told.Changed {
			changed(i, key)
		}
		if told.Watched != "" {
			e.tracking.observer.Watched(i, told.Watched, told.Absent)
		}
	}
}
