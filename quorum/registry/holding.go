package registry

import (
	"math"
	"time"

	"redlock-proxy/quorum"
)

// holding is what is known of one key, or what is noted about it: a cache line.
type holding struct {
	key          uint64  // its hash, with the database; 0 where there is none
	signs        [2]Sign // of its holder; of what is noted, zero where it names no token
	by           *Origin
	since, until time.Duration // until is noEnd or unknown where it is no time
	votes        quorum.Votes
	ttl          briefTTL // the latest
	extensions   uint16   // these two stay at the most that they can be
	refusals     uint16
	what         What
	db           uint8
}

const (
	noEnd   time.Duration = math.MaxInt64
	unknown time.Duration = math.MaxInt64 - 1
	same    time.Duration = math.MaxInt64 - 2 // only of what is noted
)

// bucketSize is how many keys share a bucket. The one that has ended first, or will, gives way to a
// new one.
const bucketSize = 7

// bucket is eight cache lines, the first of which says which of the others is a key's, and which
// gives way.
type bucket struct {
	tags     [bucketSize]uint32 // of the hashes
	ends     [bucketSize]uint32 // when, in tenths of a second; 0 where there is no holding
	_        [8]byte
	holdings [bucketSize]holding
}

func tag(key uint64) uint32 { return uint32(key >> 32) }

// find is which holding is a key's, -1 if none is.
func (b *bucket) find(key uint64) int {
	for i, t := range &b.tags {
		if t == tag(key) && b.holdings[i].key == key {
			return i
		}
	}
	return -1
}

// first is which holding gives way.
func (b *bucket) first() int {
	first := uint64(math.MaxUint64)
	for i, end := range &b.ends {
		first = min(first, uint64(end)<<8|uint64(i)) // without a branch, which could not be foreseen
	}
	return int(first & 0xff)
}

// mostAhead is for how long at least a lock is known here that ends later or never, where many come.
const mostAhead = 24 * time.Hour

// set has the bucket know a holding as of now. What ends when nobody knows may have ended already.
func (b *bucket) set(i int, h *holding, now time.Duration) {
	end := h.until
	if end == unknown {
		end = now
	}
	b.tags[i], b.ends[i] = tag(h.key), 1+uint32(min(end, now+mostAhead)/(100*time.Millisecond))
	b.holdings[i] = *h
}

// note notes what has become of what a client asked for; n is the bucket's to change.
func (b *bucket) note(n *holding) {
	i := b.find(n.key)
	if n.until == same {
		n.until = unknown
		if i >= 0 && !b.holdings[i].what.Ends() {
			n.until, n.ttl = b.holdings[i].until, b.holdings[i].ttl
		}
	}
	if i >= 0 {
		h := b.holdings[i].after(n)
		b.set(i, &h, n.since)
		return
	}
	switch n.what {
	case Granted, Written:
	case Extended: // who names no token may not be the holder
		if n.signs[0] == 0 {
			return
		}
		n.extensions = 1
	default:
		return
	}
	b.set(b.first(), n, n.since)
}

// after is what is known of a key after something about it was noted.
func (h holding) after(n *holding) holding {
	named := n.signs[0] != 0
	hers := n.signs[0] == h.signs[0]
	about := !named // the key, whoever has it
	if n.what == Written {
		about = h.what != Written // else who writes later may have asked before
	}
	switch {
	case n.what == Refused:
		h.refusals = more(h.refusals)
	case about && n.since < h.since && !h.what.Ends(): // it was about the one before
	case n.what == Extended && h.what.Ends() && n.since < h.until: // which was asked for after it
	case n.what == Granted, n.what == Written:
		return h.taken(n)
	case n.what == Extended && h.over(n.since) && !named:
	case n.what == Extended && (h.over(n.since) || named && !hers): // he took it where that was not seen
		return n.begins()
	case n.what == Extended:
		h.until, h.ttl, h.votes, h.extensions = n.until, n.ttl, n.votes, more(h.extensions)
	case hers || !named: // else it is another one's by now
		h.what, h.until, h.votes, h.by = n.what, n.since, n.votes, n.by
	}
	return h
}

// over tells that it has ended, by whatever clock.
func (h *holding) over(now time.Duration) bool {
	return h.what.Ends() || h.until < unknown && now > h.until+slack(h.until-h.since)
}

// slack is how far an end may be from where another clock has it, of what lives for so long.
func slack(life time.Duration) time.Duration { return time.Second + life/50 }

// taken is what is known when somebody holds the key from now on, which somebody else may have held:
// what his value bears as well tells nothing of who writes it now, as a script that has him wait for
// it does.
func (h *holding) taken(n *holding) holding {
	now := n.begins()
	if n.what != Written || h.what.Ends() || h.by.ID == n.by.ID {
		return now
	}
	for i, s := range now.signs {
		if s == h.signs[0] || s == h.signs[1] {
			now.signs[i] = 0
		}
	}
	return now
}

func (n *holding) begins() holding {
	now := *n
	if n.what == Extended {
		now.extensions = 1
	}
	return now
}

func more(n uint16) uint16 {
	if n < math.MaxUint16 {
		n++
	}
	return n
}
