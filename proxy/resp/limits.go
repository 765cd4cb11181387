package resp

import (
	"cmp"
	"math"
)

// Limits bounds what one command may have. The zero value of a field stands for
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
}

// The defaults of Limits. MaxQuery has room for three arguments of the longest
// kind.
const (
	DefaultMaxBulk   = 1 << 20
	DefaultMaxArgs   = 1024
	DefaultMaxInline = 64 << 10
	DefaultMaxQuery  = 4 << 20
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

// WithDefaults is l with the defaults in the place of zeros.
func (l Limits) WithDefaults() Limits {
	l.MaxBulk = cmp.Or(l.MaxBulk, DefaultMaxBulk)
	l.MaxArgs = cmp.Or(l.MaxArgs, DefaultMaxArgs)
	l.MaxInline = cmp.Or(l.MaxInline, DefaultMaxInline)
	l.MaxQuery = cmp.Or(l.MaxQuery, DefaultMaxQuery)
	return l
}
