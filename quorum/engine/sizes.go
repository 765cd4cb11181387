package engine

import (
	"math"
	"sync/atomic"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// What a request comes to in bytes, both ways, is to be known before it is put: a batch
// of a thousand long values would take a master, and everybody behind it, longer than a
// decision may. Its own bytes are there to be counted. What it brings back is nearly
// always short, and where it is not, that was seen before: when the value was put through
// this proxy, or when it was last told.

// sizes remembers which keys came to more than a little, by their hash. Of keys that
// share a place the latest is known: of another one it is known again once it was told.
type sizes [4096]atomic.Uint64

// of is what a key came to, 0 if that was little or is not known.
func (s *sizes) of(hash uint64) int {
	tag, place := placeOf(hash)
	if seen := s[place].Load(); seen>>32 == tag {
		return int(seen & math.MaxUint32)
	}
	return 0
}

// note notes that something about a key came to n bytes.
func (s *sizes) note(hash uint64, n int) {
	tag, place := placeOf(hash)
	if n >= master.Small {
		s[place].Store(tag<<32 | uint64(min(n, math.MaxUint32)))
	} else if seen := s[place].Load(); seen != 0 && seen>>32 == tag {
		s[place].Store(0)
	}
}

// told notes that the answer to an op came to n bytes. That a value is not as long any more is
// known of who was asked for it: other answers name it as a dump, in which Redis may have
// packed it.
func (s *sizes) told(o *op, n int) {
	if o.Kind == quorum.Read || n >= master.Small && n > s.of(o.place.key) {
		s.note(o.place.key, n)
	}
}

func placeOf(hash uint64) (tag, place uint64) { return hash >> 32, hash % uint64(len(sizes{})) }

// weight is Engine.Weight.
func (db *database) weight(r *quorum.Request) int {
	if n := r.Bytes() + db.sizes.of(db.hash(r.Key)); n >= master.Small {
		return n
	}
	return 0
}

// takeWeight notes what an op comes to, and what it has its key come to.
func (o *op) takeWeight() {
	n := o.Bytes()
	if o.weight = n + o.db.sizes.of(o.place.key); n >= master.Small {
		o.db.sizes.note(o.place.key, n)
	}
}
