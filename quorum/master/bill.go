package master

import (
	"sync"
	"sync/atomic"
)

// bill is what a link's replies take from its master's room, from the first byte of each
// until it is judged.
type bill struct {
	room      *Room       // nil: nothing is counted
	size      int         // of the reply being read, in bytes
	paid      bool        // it is not small: its size is taken from the room
	leavesOut atomic.Bool // something was left out

	mu    sync.Mutex // guards what follows
	taken int        // from room, for replies that have not been judged
	ended bool       // all of it was given back
}

// take counts n bytes more of the reply being read, if there is room for them.
func (b *bill) take(n int) bool {
	if b.room == nil {
		return true
	}
	size := b.size + n
	if size < Small {
		b.size = size
		return true
	}
	if !b.paid {
		n = size
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || !b.room.Take(n) {
		return false
	}
	b.taken += n
	b.size, b.paid = size, true
	return true
}

// nextReply is that the reply being read is complete.
func (b *bill) nextReply() { b.size, b.paid = 0, false }

// charge is take of a few bytes, which there must be room for.
func (b *bill) charge(n int) {
	if b.room == nil {
		return
	}
	b.size += n
	if b.size < Small {
		return
	}
	if !b.paid {
		n = b.size
	}
	b.paid = true
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.room.Add(n)
		b.taken += n
	}
}

// give gives back what answers have taken that are judged.
func (b *bill) give(n int) {
	if b.room == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n = min(n, b.taken)
	b.taken -= n
	b.room.Add(-n)
}

// giveAll gives back all that was taken on a link that is of no more use.
func (b *bill) giveAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.room != nil {
		b.room.Add(-b.taken)
	}
	b.taken, b.ended = 0, true
}
