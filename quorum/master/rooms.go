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

// DefaultMemory, in bytes, is what NewRooms takes 0 for.
const DefaultMemory = 512 << 20

// Rooms are those of one master, in bytes.
type Rooms struct {
	Replies Room // what it answers, from the first byte until it is judged
	Copies  Room // what it answers to catch-ups: clients leave that alone
	Queue   Room // commands that wait for it
	Errands Room // what it is to be told besides
	Debts   Room // and when it is back
}

// The bounds where there is memory for them.
const (
	// MaxQueueBytes is what the ops that wait come to before one that is not small is
	// turned away.
	MaxQueueBytes = 64 << 20
	// maxErrandBytes is what undos, heals and the ends of steps come to before one more
	// is left out.
	maxErrandBytes = 32 << 20
	// MaxDebtBytes is what the debts come to before some are forgotten.
	MaxDebtBytes = 8 << 20
	// LeastRoom is what there is for each in any case: a batch, and one that is on its way
	// beside it.
	LeastRoom = 4 << 20
)

// NewRooms are those of one of n masters that may take so much memory together: a quarter
// is for replies, and less for the others.
func NewRooms(memory, n int) *Rooms {
	if memory <= 0 {
		memory = DefaultMemory
	}
	r := new(Rooms)
	r.Replies.Most = int64(max(memory/4/n, LeastRoom))
	r.Copies.Most = int64(max(memory/8/n, 2*LeastRoom))
	r.Queue.Most = int64(max(min(memory/2/(n+1), MaxQueueBytes), LeastRoom))
	r.Errands.Most = int64(max(min(memory/4/(n+1), maxErrandBytes), LeastRoom))
	r.Debts.Most = int64(max(min(memory/8/n, MaxDebtBytes), LeastRoom/4))
	return r
}

// Used is how many bytes are taken.
func (r *Rooms) Used() int {
	return int(r.Replies.Used.Load() + r.Copies.Used.Load() + r.Queue.Used.Load() + r.Errands.Used.Load() + r.Debts.Used.Load())
}
