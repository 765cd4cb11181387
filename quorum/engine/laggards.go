package engine

import (
	"strings"
	"sync"
	"time"

	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// A master that was away, or busy, while a script was won has another value than the
// quorum, and declines or answers otherwise from then on. It is brought up to the
// quorum's value by a later one, but not at once, unless steps alone write such (see commit):
// what it holds may be newer.
//
//	1: A's step acts on masters 1 and 2; B locks the same key on master 3
//	2: A's step finds B's lock on master 3, and declines
//	3: B's lock reaches master 1, where the key has come free meanwhile: B has a quorum
//
// If A overwrote master 3 now, B's lock would be on one master alone. So the master
// must have held the very same for as long as B may take to be decided, and longer. Of steps the masters themselves
// tell that (quorum.StepsKey), so whichever proxy's they are; of other scripts the proxy remembers what it was told. So long,
// too, must it be since a master had nothing that steps have pushed to elsewhere:
//
//	1: A deletes the list k, at master 1 so far; B pushes x at 1, and at 2 and 3 behind all that is there
//	2: 1 is given that; A's DEL comes to 2, is decided, and never comes to 3
//	3: 1 and 3 hold what A was told is gone

// maxLaggards bounds how many keys are remembered. A key that is forgotten is brought up
// later.
const maxLaggards = 4096

// laggards remembers the keys that masters have fallen behind on.
type laggards struct {
	mu    sync.Mutex // guards since
	since map[laggard]lag
}

// laggard is a key, or of a long one its fingerprint: it may be as long as a command.
type laggard struct {
	key  string
	long bool
	lane int
}

func newLaggard(key string, lane int) laggard {
	name := dump.Fingerprint(key)
	return laggard{strings.Clone(name), name != key, lane}
}

// lag is since when a master is known to be behind, and the fingerprint of what the
// last script left there.
type lag struct {
	since time.Time
	left  string
}

// still notes that a master was behind with a step, and tells whether it has been so
// for that long, with nobody but steps having changed the key there.
func (b *laggards) still(key string, lane int, r *decide.UndoRecord, now time.Time, long time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := newLaggard(key, lane)
	old, known := b.since[id]
	if !known || old.left != dump.Fingerprint(r.Before) {
		if b.since == nil {
			b.since = make(map[laggard]lag)
		}
		old.since = now
	}
	for forgotten := range b.since {
		if known || len(b.since) < maxLaggards {
			break
		}
		delete(b.since, forgotten)
	}
	old.left = dump.Fingerprint(r.After)
	b.since[id] = old
	return now.Sub(old.since) >= long
}

// caughtUp forgets that a master was behind on a key.
func (b *laggards) caughtUp(key string, lane int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.since, newLaggard(key, lane))
}
