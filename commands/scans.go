package commands

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// The bounds of what is remembered of scans under way. What is forgotten is listed
// again where another master has it too, as Redis does in some cases.
const (
	maxScans       = 64
	maxListedBytes = 16 << 20
	listedOverhead = 64 // of a key, about
)

// scans remembers what the scans under way have listed, so that a key that several
// masters hold is listed once. It is found by the cursor that the client was given
// last, and taken by whoever comes with that: a client that asks again with the same
// cursor has not seen the answer, and is to be told again.
type scans struct {
	mu    sync.Mutex // guards what follows
	list  []scan     // oldest first
	bytes int
}

type scan struct {
	db     int
	cursor uint64
	listed listed
}

// listed is the keys that a scan has listed.
type listed struct {
	keys  map[string]struct{}
	bytes int
}

func (l *listed) has(key string) bool {
	_, ok := l.keys[key]
	return ok
}

func (l *listed) add(key string) {
	if l.keys == nil {
		l.keys = make(map[string]struct{})
	}
	l.keys[key] = struct{}{}
	l.bytes += len(key) + listedOverhead
}

// take gives what the scan has listed that goes on with this cursor, and forgets it.
func (s *scans) take(db int, cursor uint64) listed {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(db, cursor)
	if i < 0 {
		return listed{}
	}
	l := s.list[i].listed
	s.remove(i)
	return l
}

// keep remembers what a scan has listed that goes on at this place, and gives the
// cursor for it.
func (s *scans) keep(db int, at place, l listed) uint64 {
	salt := rand.Uint64()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.index(db, at.cursor(salt)) >= 0 {
		salt++
	}
	s.put(scan{db, at.cursor(salt), l})
	return at.cursor(salt)
}

// restore remembers again what was taken.
func (s *scans) restore(db int, cursor uint64, l listed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index(db, cursor) < 0 {
		s.put(scan{db, cursor, l})
	}
}

// memory is about how many bytes it takes.
func (s *scans) memory() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// put forgets the oldest ones where there is no room. mu is held, by all below.
func (s *scans) put(x scan) {
	if x.cursor == 0 || x.listed.bytes == 0 || x.listed.bytes > maxListedBytes {
		return
	}
	for len(s.list) > 0 && (len(s.list) >= maxScans || s.bytes+x.listed.bytes > maxListedBytes) {
		s.remove(0)
	}
	s.list = append(s.list, x)
	s.bytes += x.listed.bytes
}

func (s *scans) index(db int, cursor uint64) int {
	return slices.IndexFunc(s.list, func(x scan) bool { return x.db == db && x.cursor == cursor })
}

func (s *scans) remove(i int) {
	s.bytes -= s.list[i].listed.bytes
	s.list = slices.Delete(s.list, i, i+1)
}
