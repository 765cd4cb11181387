package proxy

import (
	"math/bits"
	"time"

	"redlock-proxy/quorum"
)

// prefixed is who is told of all keys with certain prefixes (CLIENT TRACKING with BCAST), whether he has read them or
// not. Masters tell of all changes then, each of them, so that one comes several times. Where too few do, who reads is
// told at once, behind the answer.
type prefixed struct {
	of      map[int64][]string            // the prefixes of each client
	by      map[string]map[int64]struct{} // and who has each of them
	lengths map[int]int                   // how many prefixes there are of each length
	since   [quorum.MaxMasters]time.Duration
}

// follow has a client be told of keys with these prefixes, all that he has named.
func (t *tracking) follow(id int64, prefixes []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &t.prefixed
	if b.of == nil {
		b.of, b.by, b.lengths = make(map[int64][]string), make(map[string]map[int64]struct{}), make(map[int]int)
	}
	b.of[id] = prefixes
	for _, p := range prefixes {
		if b.by[p] == nil {
			b.by[p] = make(map[int64]struct{}, 1)
			b.lengths[len(p)]++
		}
		b.by[p][id] = struct{}{}
	}
}

// unfollow ends that.
func (t *tracking) unfollow(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &t.prefixed
	prefixes := b.of[id]
	delete(b.of, id)
	for _, p := range prefixes {
		if delete(b.by[p], id); len(b.by[p]) > 0 {
			continue
		}
		delete(b.by, p)
		if b.lengths[len(p)]--; b.lengths[len(p)] == 0 {
			delete(b.lengths, len(p))
		}
	}
}

// cast has masters tell of all changes while somebody is to be told of them.
func (s *Server) cast() {
	t := &s.tracking
	t.casting.Lock()
	defer t.casting.Unlock()
	t.mu.Lock()
	some := len(t.prefixed.of) > 0
	t.mu.Unlock()
	s.engine.Broadcast(some)
}

// followers are who is told of a key. mu is held.
func (t *tracking) followers(key string) (all []notice) {
	b := &t.prefixed
	for n := range b.lengths {
		if n <= len(key) {
			for id := range b.by[key[:n]] {
				all = append(all, notice{id: id, key: key})
			}
		}
	}
	return all
}

// everybody is all of them, who are told of all keys. mu is held.
func (t *tracking) everybody() (all []notice) {
	for id := range t.prefixed.of {
		all = append(all, notice{id: id, all: true})
	}
	return all
}

// Broadcasts is for quorum.Observer.
func (s *Server) Broadcasts(master int, on bool) {
	t := &s.tracking
	var all []notice
	t.mu.Lock()
	if t.prefixed.since[master] = 0; on {
		t.prefixed.since[master] = max(s.clock(), 1)
	} else {
		all = t.everybody()
	}
	t.mu.Unlock()
	s.tellAll(all)
}

// Broadcast is for quorum.Observer.
func (s *Server) Broadcast(_ int, key string) {
	if quorum.Private(key) {
		return
	}
	t := &s.tracking
	t.mu.Lock()
	all := t.followers(key)
	if key == "" {
		all = t.everybody()
	}
	t.mu.Unlock()
	s.tellAll(all)
}

// uncovered are keys of which too few masters that have said so have told of all changes since before a time.
func (t *tracking) uncovered(keys []string, by *said, before time.Duration) (stale []string) {
	t.mu.Lock()
	telling := tellers(&t.prefixed.since, before)
	t.mu.Unlock()
	for _, key := range keys {
		if bits.OnesCount16(telling&by.about(key)) < by.needed {
			stale = append(stale, key)
		}
	}
	return stale
}
