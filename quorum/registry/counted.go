package registry

import (
	"math/bits"
	"time"

	"redlock-proxy/quorum"
)

// briefTTL is a ttl in two bytes: twelve bits of milliseconds, and how often they are doubled. It is
// less than a four-thousandth too short; 0 is of what is not known, has no end or is too long.
type briefTTL uint16

const (
	briefBits = 12
	mostBrief = int64(1<<briefBits-1) << 15 // 37 hours
)

func briefTTLOf(ttl time.Duration) briefTTL {
	ms := ttl.Milliseconds()
	if ms <= 0 || ms > mostBrief {
		return 0
	}
	doubled := max(bits.Len64(uint64(ms))-briefBits, 0)
	return briefTTL(doubled<<briefBits | int(ms>>doubled))
}

func (b briefTTL) duration() time.Duration {
	return time.Duration(b&(1<<briefBits-1)) << (b >> briefBits) * time.Millisecond
}

// Counted is how the client counts that was the last here to give a key its ttl, whatever stands there by
// now; the zero value where that is not known.
func (r *Registry) Counted(db int, key string, now time.Duration) quorum.Counted {
	hash := r.hash(db, key)
	s := r.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	b := s.bucket(hash)
	i := b.find(hash)
	if i < 0 {
		return quorum.Counted{}
	}
	h := &b.holdings[i]
	if h.what.Ends() || h.ttl == 0 || h.since < time.Duration(r.flushed[db].Load()) {
		return quorum.Counted{}
	}
	known := quorum.Counted{TTL: h.latest(), Left: h.until - now}
	if h.what == Granted { // and so signed by the value itself
		known.Sign = uint64(h.signs[0])
	}
	return known
}

// latest is the latest ttl: that of the whole life, to the nanosecond, if it may be.
func (h *holding) latest() time.Duration {
	brief, life := h.ttl.duration(), h.until-h.since
	if (life - brief).Abs() <= brief/(1<<(briefBits-1)) {
		return life
	}
	return brief
}
