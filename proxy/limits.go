package proxy

import "redlock-proxy/proxy/resp"

// Limits bounds what one client may cost. The zero value of a field stands for
// the default beside it.
type Limits struct {
	// Input bounds each command that it sends.
	Input resp.Limits

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

// The defaults of Limits. MaxInFlight has room for redis-benchmark at its deepest
// pipelines; MaxAsked for two batches of a master, so that one fills while one is on its
// way; MaxUnread is Redis's hard limit for subscribers, the clients it expects to be slow,
// and a quarter of it the soft one.
const (
	DefaultMaxInFlight = 1024
	DefaultMaxAsked    = 2 << 20
	DefaultMaxUnread   = 32 << 20
)

func (l Limits) withDefaults() Limits {
	l.Input = l.Input.WithDefaults()
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
