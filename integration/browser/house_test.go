package browser

import (
	"testing"
	"time"
)

// house is what the page is about, and what happens in it. Three masters are there.
type house interface {
	address() string // of the page
	masters() []string

	kill(master int)
	startBlank(master int)            // after kill, without its memory
	catchUp(master int)               // returns when it may vote again
	cut()                             // the page's server goes away, streams and all
	restore()                         // and comes back at the same address
	clock(d time.Duration)            // by how much the last master's clock is ahead
	sitsBy(client, key string, n int) // so many of its attempts are refused

	acquire(client, key string, ttl time.Duration)
	extend(key string, ttl time.Duration)
	release(key string)
	forget(key string) // who holds it is not known here any more

	orders() []string // that were given, with who and why
}

// newHouse is the one place to change for another house than the fake.
func newHouse(t *testing.T, ordersAllowed bool) house { return newFake(t, ordersAllowed) }
