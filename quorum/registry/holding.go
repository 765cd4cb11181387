package registry

import (
	"math"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// holding is what is known of one key: a cache line.
type holding struct {
	key          uint64  // its hash, with the database; 0 where there is none
	signs        [2]Sign // of its holder
	by           *Origin
	since, until time.Duration // until is noEnd or unknown where it is no time
	votes        quorum.Votes
	extensions   uint16 // these two stay at the most that they can be
	refusals     uint16
	what         What
	db           uint8
}

const (
	noEnd   time.Duration = math.MaxInt64
	unknown time.Duration = math.MaxInt64 - 1
)

// bucketSize is how many keys share a bucket. The oldest gives way to a new one.
const bucketSize = 8

type bucket struct {
	mu       sync.Mutex
	holdings [bucketSize]holding
}

// find is the holding of a key, nil if there is none. mu is held.
func (b *bucket) find(key uint64) *holding {
	for i := range b.holdings {
		if b.holdings[i].key == key {
			return &b.holdings[i]
		}
	}
	return nil
}

// room is the holding of a key, or of none, or else the one that is missed least: what has ended,
// then what may have, and then what began first. mu is held.
func (b *bucket) room(key uint64, now time.Duration) *holding {
	oldest, age := &b.holdings[0], time.Duration(math.MaxInt64)
	for i := range b.holdings {
		h := &b.holdings[i]
		if h.key == key {
			return h
		}
		since := h.since
		switch {
		case h.key == 0 || h.what.Ends() || h.until < now:
			since -= math.MaxInt64 / 2
		case h.until == unknown: // it may have ended long ago
			since -= math.MaxInt64 / 4
		}
		if since < age {
			oldest, age = h, since
		}
	}
	return oldest
}

// taken is begins, of what somebody else may hold: what his value bears as well tells nothing of
// who writes it now, as a script that has him wait for it does.
func (h *holding) taken(key uint64, a *Act) {
	before := *h
	h.begins(key, a)
	if a.What != Written || before.key != key || before.what.Ends() || before.by.ID == a.By.ID {
		return
	}
	for i, s := range h.signs {
		if s == before.signs[0] || s == before.signs[1] {
			h.signs[i] = 0
		}
	}
}

// begins notes that somebody holds the key from now on.
func (h *holding) begins(key uint64, a *Act) {
	*h = holding{
		key: key, by: a.By, since: a.At, until: a.until(), votes: a.Votes, what: a.What, db: uint8(a.DB),
	}
	h.signs = a.signs()
}

// goesOn notes that a holder has it for longer, who may have taken it where that was not seen. Who
// names no token may not be the holder.
func (h *holding) goesOn(key uint64, a *Act) {
	if known := h.key == key && !h.what.Ends(); a.Token == "" && !known {
		return
	} else if !known || a.Token != "" && h.signs[0] != SignOf(a.Token) {
		h.begins(key, a)
		h.extensions = 1
		return
	}
	h.until, h.votes = a.until(), a.Votes
	if h.extensions < math.MaxUint16 {
		h.extensions++
	}
}

// ends notes that nobody holds it any more, unless it is another one's by now.
func (h *holding) ends(a *Act) {
	if a.Token != "" && h.signs[0] != SignOf(a.Token) {
		return
	}
	h.what, h.until, h.votes, h.by = a.What, a.At, a.Votes, a.By
}
