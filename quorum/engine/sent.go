package engine

import (
	"math/bits"
	"sort"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/marker"
)

// What follows from a vote (a key given again, put back, or taken back) is sent at the
// head of the master's next batch, or before all that is about its key if it does not fit
// there. It must not be carried out behind a later command on its key that could have
// freed it:
//
//	1: A extends k and releases it: one batch. The master lacks k, and says so to both
//	2: the extension is won by the others, so the master is given k again, for the ttl
//
// So a lane numbers what it sends, and remembers of each key when it last sent what frees
// or takes one. A release frees the lock of its token, and no other: those who are told no
// often send one all the same. A script that may use keys that it was not given may have freed
// any that has the tag of one that it was.
//
//	1: A's connection is lost; its k is won, and is to be taken back
//	2: B is told no, and releases k under its own token behind that: one batch
//
// What was sent last is remembered of each key by itself, by its hash. What was sent before
// that shares a memory: what is kept from being sent for another key's sake is missed for a
// while, and nothing worse.

const (
	// recents is how much of what was sent last is remembered by itself: some batches.
	recents = 2048
	// memories is how many keys are told apart in what was sent before.
	memories = 2048
)

// lockHash is of a key with one token.
func (db *database) lockHash(key, token string) uint64 {
	return db.hash(key) ^ bits.RotateLeft64(db.hash(token), 1)
}

// ordinal is where an op stands among all that a lane has sent: the number of its own
// command, or of the last before it.
type ordinal uint64

// sending is how an op was sent to a master.
type sending struct {
	unsent  bool         // it never was
	nonce   marker.Nonce // under which the master was known when it was asked
	ordinal ordinal      // where the lane has sent it
	done    clock.Span   // when it was carried out, by the master's clock
	asked   clock.Span   // the same by ours: from when the batch was sent until it was answered
}

// sentSo is what a lane has sent so far. The lane's mu guards it.
type sentSo struct {
	last ordinal
	all  ordinal // when all keys were last freed

	recent [recents]mark // a ring
	marks  int           // how many there ever were

	freed      [memories]ordinal // when a key last may have been, whatever it holds
	released   [memories]ordinal // when it last may have been, of some token
	releasedAs [memories]ordinal // when a key of one token was last released: see lockHash
	taken      [memories]ordinal // and when it was last asked for
	asked      [memories]ordinal // when a key was last asked for under one token
}

// memory is where what is known of a key stands.
type memory uint16

func memoryOf(hash uint64) memory { return memory(hash / shards % memories) }

// note notes that an op is sent next. What only reads does nothing.
func (s *sentSo) note(o *op) {
	s.last++
	switch o.Kind {
	case quorum.Acquire:
		s.mark(o.place.key, o.lock, takes|asks)
	case quorum.Release:
		s.mark(o.place.key, o.lock, releases)
	case quorum.Remove:
		s.mark(o.place.key, 0, frees)
	case quorum.Write:
		s.mark(o.place.key, 0, frees|takes)
	case quorum.Run:
		if o.Script.Reads {
			return
		}
		s.mark(o.place.key, 0, frees|takes)
		for _, key := range o.Keys[min(1, len(o.Keys)):] {
			s.mark(o.db.hash(key), 0, frees|takes)
		}
		if o.Script.Reaches {
			for _, tag := range o.tags() {
				s.mark(o.db.hash(tag), 0, frees|takes|wide)
			}
		}
	case quorum.Survey:
		if o.Flushes() {
			s.all = s.last
			s.mark(0, 0, empties)
		}
	}
}

func (s *sentSo) mark(key, lock uint64, does deed) {
	s.recent[s.marks%recents] = mark{key: key, lock: lock, at: s.last, does: does}
	s.marks++
	k, l := memoryOf(key), memoryOf(lock)
	if does&frees != 0 {
		s.freed[k] = s.last
	}
	if does&takes != 0 {
		s.taken[k] = s.last
	}
	if does&releases != 0 {
		s.released[k], s.releasedAs[l] = s.last, s.last
	}
	if does&asks != 0 {
		s.asked[l] = s.last
	}
}

// answered is what is known of what was answered and has done nothing, or nothing but tell.
type answered struct {
	does  deed
	said  saying // of what declines; so are names
	names names
}

// answered notes what was sent at n places behind a first one, and has done nothing.
func (s *sentSo) answered(p ordinal, n int, nothing func(i int) answered) {
	oldest := max(0, s.marks-recents)
	first := oldest + sort.Search(s.marks-oldest, func(i int) bool { return s.recent[(oldest+i)%recents].at > p })
	for i := first; i < s.marks; i++ {
		m := &s.recent[i%recents]
		at := int(m.at - p - 1)
		if at >= n {
			return
		}
		a := nothing(at)
		if m.does |= a.does; m.does&wide != 0 && a.does&within != 0 {
			m.does |= idle
		}
		if a.does&declines != 0 {
			m.lock, m.names = uint64(a.said), a.names
		}
		if k := memoryOf(m.key); a.does&frees != 0 {
			s.freed[k] = max(s.freed[k], m.at)
		}
	}
}

// since tells that something was sent after a place. It is known as long as all that was is
// remembered by itself.
func (s *sentSo) since(p ordinal, is func(m *mark) bool) (was, known bool) {
	if oldest := &s.recent[s.marks%recents]; s.marks > recents && oldest.at > p {
		return false, false
	}
	for i := s.marks - 1; i >= max(0, s.marks-recents) && s.recent[i%recents].at > p; i-- {
		if is(&s.recent[i%recents]) {
			return true, true
		}
	}
	return false, true
}

// freedSince tells that a key may have been freed by what was sent after a place, of
// whatever it held.
func (s *sentSo) freedSince(k place, p ordinal) bool {
	was, known := s.since(p, func(m *mark) bool { return m.does&empties == 0 && m.frees(k) })
	if !known {
		was = max(s.freed[memoryOf(k.key)], s.freed[memoryOf(k.tag)], s.released[memoryOf(k.key)]) > p
	}
	return was || s.all > p
}

// lockFreedSince is freedSince of a key with one token.
func (s *sentSo) lockFreedSince(k place, lock uint64, p ordinal) bool {
	was, known := s.since(p, func(m *mark) bool { return m.freesLock(k, lock) })
	if !known {
		was = max(s.freed[memoryOf(k.key)], s.freed[memoryOf(k.tag)], s.releasedAs[memoryOf(lock)]) > p
	}
	return was || s.all > p
}

// goneSince is freedSince, but for what has done nothing on this master; so is lockGoneSince.
// They are for what is taken away. What is given is not to be given behind that either: others
// may have carried it out. What has declined counts, unless it was told no.
func (s *sentSo) goneSince(k place, p ordinal, l lost) bool {
	was, known := s.since(p, func(m *mark) bool { return m.does&idle == 0 && m.frees(k) && !l.denied(m) })
	return was || !known && s.freedSince(k, p)
}

// lockGoneSince is goneSince of a key with one token.
func (s *sentSo) lockGoneSince(k place, lock uint64, p ordinal, l lost) bool {
	was, known := s.since(p, func(m *mark) bool { return m.does&idle == 0 && m.freesLock(k, lock) && !l.denied(m) })
	return was || !known && s.lockFreedSince(k, lock, p)
}

// anewSince tells that a key may have been freed, and then be held once more under a token, by
// what was sent after a place.
func (s *sentSo) anewSince(k place, lock uint64, p ordinal) bool {
	was, known := s.since(p, func(m *mark) bool { return m.lock == lock && m.does&asks != 0 })
	if !known {
		was = s.asked[memoryOf(lock)] > p
	}
	return was || s.lockFreedSince(k, lock, p)
}

// takenSince tells that a key was asked for after a place.
func (s *sentSo) takenSince(k place, p ordinal) bool {
	was, known := s.since(p, func(m *mark) bool { return m.does&takes != 0 && m.about(k) })
	if !known {
		was = max(s.taken[memoryOf(k.key)], s.taken[memoryOf(k.tag)]) > p
	}
	return was
}
