package engine

import (
	"math/bits"

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
// often send one all the same.
//
//	1: A's connection is lost; its k is won, and is to be taken back
//	2: B is told no, and releases k under its own token behind that: one batch
//
// Keys share a memory by their hash: what is kept from being sent for another key's sake
// is missed for a while, and nothing worse.

// memories is how many keys are told apart.
const memories = 2048

// lockMemory is where what is known of a key with one token stands.
func (o *op) lockMemory() memory { return o.db.lockMemory(o.Key, o.Token) }

func (db *database) lockMemory(key, token string) memory {
	return memoryOf(db.hash(key) ^ bits.RotateLeft64(db.hash(token), 1))
}

// ordinal is where an op stands among all that a lane has sent: the number of its own
// command, or of the last before it.
type ordinal uint64

// sending is how an op was sent to a master.
type sending struct {
	nonce   marker.Nonce // under which the master was known when it was asked
	ordinal ordinal      // where the lane has sent it
	done    clock.Span   // when it was carried out, by the master's clock
	asked   clock.Span   // the same by ours: from when the batch was sent until it was answered
}

// sentSo is what a lane has sent so far. The lane's mu guards it.
type sentSo struct {
	last     ordinal
	all      ordinal           // when all keys were last freed
	freed    [memories]ordinal // when a key last may have been, whatever it holds
	released [memories]ordinal // when it last may have been, of some token
	ended    [memories]ordinal // when a key of one token was last released: see lock
	taken    [memories]ordinal // and when it was last asked for
	asked    [memories]ordinal // when a key was last asked for under one token
}

// memory is where what is known of a key stands.
type memory uint16

func memoryOf(hash uint64) memory { return memory(hash / shards % memories) }

// note notes that an op is sent next.
func (s *sentSo) note(o *op) {
	s.last++
	switch o.Kind {
	case quorum.Acquire:
		s.taken[o.memory], s.asked[o.lock] = s.last, s.last
	case quorum.Release:
		s.released[o.memory], s.ended[o.lock] = s.last, s.last
	case quorum.Remove:
		s.freed[o.memory] = s.last
	case quorum.Write, quorum.Run:
		s.freed[o.memory], s.taken[o.memory] = s.last, s.last
		for _, key := range o.Keys[min(1, len(o.Keys)):] {
			m := memoryOf(o.db.hash(key))
			s.freed[m], s.taken[m] = s.last, s.last
		}
	case quorum.Survey:
		if o.Only == 0 {
			s.all = s.last
		}
	}
}

// freedSince tells that a key may have been freed by what was sent after a place, of
// whatever it held.
func (s *sentSo) freedSince(m memory, p ordinal) bool {
	return max(s.freed[m], s.released[m], s.all) > p
}

// lockFreedSince is freedSince of the lock that an op is about.
func (s *sentSo) lockFreedSince(o *op, p ordinal) bool {
	return max(s.freed[o.memory], s.ended[o.lockMemory()], s.all) > p
}

// anewSince tells that a key may have been freed, and then be held once more under a token, by
// what was sent after a place.
func (s *sentSo) anewSince(key, lock memory, p ordinal) bool {
	return max(s.freed[key], s.ended[lock], s.asked[lock], s.all) > p
}

// takenSince tells that a key was asked for after a place.
func (s *sentSo) takenSince(m memory, p ordinal) bool { return s.taken[m] > p }
