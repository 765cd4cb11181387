package proxy

import "math"

// Limits bounds what one client may cost. The zero value of a field stands for
// the default beside it.
type Limits struct {
	// MaxBulk is the longest argument in bytes. Redis takes 512 MiB; a lock's
	// name, token or script is far below DefaultMaxBulk, and every byte is
	// kept once per master's queue.
	MaxBulk int

	// MaxArgs is how many arguments a command may have, its name included.
	// Redis takes two thousand million; here each key of a DEL is a request
	// that is put to every master.
	MaxArgs int

	// MaxInline is the longest line without its end, as Redis's
	// PROTO_INLINE_MAX_SIZE: of an inline command, and of a length.
	MaxInline int

	// MaxQuery is how many bytes one command may have. Redis's
	// client-query-buffer-limit is 1 GiB.
	MaxQuery int

	// MaxInFlight is how many requests of one client may be undecided at the
	// same time, be they decided ever so soon, see window.go. The next command is not
	// read before there is room.
	MaxInFlight int

	// MaxAsked is what the requests of one client that are undecided may come to
	// in bytes, both ways. The next one is not put before there is room; one that
	// comes to more goes alone.
	MaxAsked int

	// MaxUnread is how many bytes of replies wait for a client that does not
	// read them. Its next command is not carried out before it has read on, and
	// a message that it is subscribed to closes the connection. So does a minute
	// in which it takes nothing while a quarter of that waits, and one in which a
	// subscriber is always owed that much.
	MaxUnread int
}

// The defaults of Limits. MaxQuery has room for three arguments of the longest
// kind; MaxInFlight for redis-benchmark at its deepest pipelines; MaxAsked for two batches
// of a master, so that one fills while one is on its way; MaxUnread is
// Redis's hard limit for subscribers, the clients it expects to be slow, and a quarter of it
// the soft one.
const (
	DefaultMaxBulk     = 1 << 20
	DefaultMaxArgs     = 1024
	DefaultMaxInline   = 64 << 10
	DefaultMaxQuery    = 4 << 20
	DefaultMaxInFlight = 1024
	DefaultMaxAsked    = 2 << 20
	DefaultMaxUnread   = 32 << 20
)

// Redis's limits for a client that has yet to AUTH. Together they keep its
// commands below 161 KiB, so that no MaxQuery of its own is needed.
const (
	guestMaxArgs = 10
	guestMaxBulk = 16384
)

// What Redis takes of any client, which is told of a guest's limits up to there.
const (
	redisMaxArgs = math.MaxInt32
	redisMaxBulk = 512 << 20
)

func (l Limits) withDefaults() Limits {
	l.MaxBulk = positive(l.MaxBulk, DefaultMaxBulk)
	l.MaxArgs = positive(l.MaxArgs, DefaultMaxArgs)
	l.MaxInline = positive(l.MaxInline, DefaultMaxInline)
	l.MaxQuery = positive(l.MaxQuery, DefaultMaxQuery)
	l.MaxInFlight = positive(l.MaxInFlight, DefaultMaxInFlight)
	l.MaxAsked = positive(l.MaxAsked, DefaultMaxAsked)
	l.MaxUnread = positive(l.MaxUnread, DefaultMaxUnread)
	return l
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
