package proxy

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum"
)

// Clients that track (CLIENT TRACKING) keep what they have read, and are told when it changes. Masters tell of the next
// change of a key that was asked for by its name (quorum.Observer), each once. So of an answer a client is told if
// a quorum has said it that told of changes by the time that it was asked for, and has told of none since: what these say
// is the answer until one of them changes. Otherwise the client is told at once, behind the answer: what it
// reads next is asked for when the masters tell.
//
//	1: P asks masters to tell of k, and reads v on 1 and 2; 1 tells of changes by then, and 2 not yet
//	2: another proxy writes w on 2 and 3; then 2 tells of changes
//	3: nobody tells P, and its client keeps v
//
// That a master tells of a key holds until it has told, or its connection has ended; each is told of as a change.

const (
	// mostTracked is about how many bytes are taken for keys and for who is told of them. Whoever is told of one that
	// goes is told now.
	mostTracked = 64 << 20

	trackedSize = 400 // of a key, beside its name
	trackerSize = 50  // of a client who is told of it
)

// tracking is what clients are told of. None of its locks is held where connections are.
type tracking struct {
	clients atomic.Int64 // who track
	masters atomic.Int64 // that there are, 0 while that is not known
	needed  atomic.Int64 // of these, that have to tell

	mu    sync.Mutex // guards what follows
	keys  map[string]*trackedKey
	items int // clients of all keys
	bytes int
	looks int // checks of all keys

	untold []*batch

	prefixed
	casting sync.Mutex // is held by who has masters tell of all changes, or no more
}

// trackedKey is a key that clients read, or one is about to.
type trackedKey struct {
	since  [quorum.MaxMasters]time.Duration // which each master tells of the next change; 0: it does not
	by     map[int64]struct{}               // who is told
	db     int                              // where it was read last
	asked  time.Duration                    // when masters were asked to tell
	lost   bool                             // one has told since
	wrote  time.Duration                    // when somebody who may have changed it was last about to be answered
	checks []*check
}

// want has masters tell of keys that are about to be read.
func (t *tracking) want(srv *Server, db int, keys []string, now time.Duration) {
	var ask []string
	var gone []notice
	t.mu.Lock()
	for _, key := range keys {
		k := t.keys[key]
		if k == nil {
			gone = append(gone, t.makeRoom(len(key)+trackedSize)...)
			k = new(trackedKey)
			if t.keys == nil {
				t.keys = make(map[string]*trackedKey)
			}
			t.keys[key] = k
			t.bytes += trackedSize + len(key)
		}
		if k.db = db; k.asked == 0 || k.lost || k.telling(now+1) < int(t.masters.Load()) && now-k.asked > lookSpan {
			k.asked, k.lost = max(now, 1), false
			ask = append(ask, key)
		}
	}
	t.tellTaken(srv, gone, "")
	for _, key := range ask {
		srv.engine.Watch(db, key)
	}
}

// makeRoom takes keys out until there is room for so many bytes more, and tells who is to be told. mu is held.
func (t *tracking) makeRoom(more int) (gone []notice) {
	for key, k := range t.keys {
		if t.bytes+more <= mostTracked {
			break
		}
		gone = append(gone, t.take(key, k)...)
		gone = append(gone, t.endChecks(key, k, func(*check) bool { return true })...)
		t.drop(key)
	}
	return gone
}

// take is who is told that a key has changed, from now on no more. mu is held.
func (t *tracking) take(key string, k *trackedKey) (all []notice) {
	for id := range k.by {
		all = append(all, notice{id, key, false})
	}
	t.items -= len(k.by)
	t.bytes -= len(k.by) * trackerSize
	k.by = nil
	return all
}

// drop forgets a key that nobody is told of. mu is held.
func (t *tracking) drop(key string) {
	delete(t.keys, key)
	t.bytes -= trackedSize + len(key)
}

// add has a client be told of a key. mu is held.
func (t *tracking) add(k *trackedKey, id int64) {
	if _, there := k.by[id]; there {
		return
	}
	if k.by == nil {
		k.by = make(map[int64]struct{}, 1)
	}
	k.by[id] = struct{}{}
	t.items++
	t.bytes += trackerSize
}

// telling is how many masters tell since before a time.
func (k *trackedKey) telling(before time.Duration) int { return bits.OnesCount16(k.tellers(before)) }

func (k *trackedKey) tellers(before time.Duration) uint16 { return tellers(&k.since, before) }

// tellers are the masters that tell since before a time.
func tellers(all *[quorum.MaxMasters]time.Duration, before time.Duration) (masters uint16) {
	for i, since := range all {
		if since > 0 && since < before {
			masters |= 1 << i
		}
	}
	return masters
}

// answered notes of what a client is told who has been answered: masters that said so have told of changes since before
// it was asked. It returns the keys of which he is not; one that was written meanwhile is one, though no master has told
// of it yet, as who wrote it may have his answer.
func (t *tracking) answered(srv *Server, id int64, keys []string, by *said, asked time.Duration) (stale []string) {
	var gone []notice
	t.mu.Lock()
	for _, key := range keys {
		if k := t.keys[key]; k != nil && asked > k.wrote && bits.OnesCount16(k.tellers(asked)&by.about(key)) >= by.needed {
			t.add(k, id)
			gone = append(gone, t.makeRoom(0)...) // which may be of this key
		} else {
			stale = append(stale, key)
		}
	}
	t.tellTaken(srv, gone, "")
	return stale
}

// changed is that a master has told of a key; of all that it told of, if it is "".
func (t *tracking) changed(srv *Server, master int, key string, now time.Duration) {
	var all []notice
	again, db := false, 0
	t.mu.Lock()
	if key == "" {
		all = t.lostAll(master)
	} else if k := t.keys[key]; k != nil {
		k.since[master], k.lost = 0, true
		if all = t.take(key, k); len(all) > 0 || len(k.checks) > 0 { // who is told reads again
			again, db = true, k.db
			k.asked, k.lost = now, false
		} else if k.tellers(now+1) == 0 && now-k.asked > lookSpan {
			t.drop(key)
		}
	}
	t.tellTaken(srv, all, key)
	if again {
		srv.engine.Watch(db, key)
	}
}

// lostAll is changed of all keys that a master has told of. mu is held.
func (t *tracking) lostAll(master int) (all []notice) {
	clients := make(map[int64]struct{})
	for key, k := range t.keys {
		if k.since[master] > 0 {
			k.since[master], k.lost = 0, true
			for _, n := range t.take(key, k) {
				clients[n.id] = struct{}{}
			}
		}
	}
	for id := range clients {
		all = append(all, notice{id: id, all: true})
	}
	return all
}

// registered is that a master tells of the next change of a key from now on.
func (t *tracking) registered(srv *Server, master int, key string, now time.Duration) {
	t.mu.Lock()
	k := t.keys[key]
	var ready []*check
	if k != nil {
		k.since[master] = max(now, 1)
		ready = t.ready(k, now)
	}
	t.mu.Unlock()
	for _, c := range ready {
		c.read()
	}
}

// changedBy is that something that was asked through this proxy may have changed keys: that is told before its answer.
func (t *tracking) changedBy(srv *Server, q *quorum.Request, result *quorum.Result) {
	switch {
	case q.Kind == quorum.Read, q.Kind == quorum.Run && q.Script.Reads, q.Kind == quorum.Survey && !q.Flushes():
		return
	case result.Decision == quorum.Contended && q.Kind != quorum.Remove && !result.Tidied:
		return
	}
	one := [1]string{q.Key}
	keys := one[:]
	if q.Kind == quorum.Run {
		keys = slices.Concat(q.Keys, result.Others)
	}
	var all []notice
	now := srv.clock()
	t.mu.Lock()
	if q.Kind == quorum.Survey {
		for master := range quorum.MaxMasters {
			all = append(all, t.lostAll(master)...)
		}
		all = append(all, t.everybody()...)
		keys, all = nil, append(all, t.untoldOf("")...)
	}
	again := make([]string, 0, 1)
	for _, key := range keys {
		all = append(all, t.followers(key)...)
		all = append(all, t.untoldOf(key)...)
		k := t.keys[key]
		if k == nil {
			continue
		}
		if k.wrote = now; len(k.by) > 0 {
			all = append(all, t.take(key, k)...)
			again = append(again, key)
			k.asked, k.lost = now, false
		}
	}
	t.tellTaken(srv, all, "")
	for _, key := range again {
		srv.engine.Watch(q.DB, key)
	}
}

// leave is that a client tracks no more. What there was for the last one is forgotten.
func (t *tracking) leave() {
	if t.clients.Add(-1) > 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clients.Load() == 0 {
		t.keys, t.items, t.bytes, t.looks = nil, 0, 0, 0
	}
}

// TrackingFigures is what clients that track come to.
type TrackingFigures struct {
	Clients  int
	Keys     int // that they have read
	Items    int // clients of each of these, together
	Prefixes int // by which they are told of keys that they may not have read
}

func (t *tracking) figures() TrackingFigures {
	t.mu.Lock()
	defer t.mu.Unlock()
	return TrackingFigures{int(t.clients.Load()), len(t.keys), t.items, len(t.by)}
}
