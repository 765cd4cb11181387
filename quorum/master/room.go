package master

import "sync/atomic"

// What masters make this process hold is bounded in bytes: what they answer, whatever that
// is, what they are still to be asked, and what they are still to be told. Each master has
// room of its own, which all databases share, so that one that lies takes nothing from the
// others; and where there is none the vote is unknown, as if it had not answered.

// Room is a number of bytes that may be taken, by any goroutine: Used of them are, Most is how many
// there are. It must not be copied once it is used.
type Room struct {
	Most int64
	Used atomic.Int64
}

// Take takes n bytes, if there are so many.
func (r *Room) Take(n int) bool {
	if r.Used.Add(int64(n)) > r.Most {
		r.Used.Add(-int64(n))
		return false
	}
	return true
}

// Add takes n bytes, or gives them back, in any case.
func (r *Room) Add(n int) { r.Used.Add(int64(n)) }

// Full tells that there is no room for more.
func (r *Room) Full() bool { return r.Used.Load() >= r.Most }

// Overdrawn tells that there is not as much as is taken.
func (r *Room) Overdrawn() bool { return r.Used.Load() > r.Most }

// Small, in bytes, is what need not be counted: so much a request comes to anyway.
const Small = 4 << 10
