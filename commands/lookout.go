package commands

import (
	"time"

	"redlock-proxy/quorum/registry"
)

// Lookout is what the server has seen and may ask others for: what LOCK INFO and its like tell.
// Its methods may be called by any number of goroutines.
type Lookout interface {
	// Seen is what this proxy remembers of locks, by the time that Clock tells. What that is as a
	// time of day, Wall tells.
	Seen() *registry.Registry
	Clock() time.Duration
	Wall(clock time.Duration) time.Time

	// InLine is how many clients wait in line for a key at this proxy.
	InLine(db int, key string) int

	// Connected tells that there is a client of this number.
	Connected(id int64) bool

	// Masters are their names, in their order.
	Masters() []string

	// Self is this proxy, as it is now.
	Self() Proxy

	// Inquire asks the other proxies of the same masters, as Dialect.Asked answers, and waits
	// for them as long as an operator does: less than a second.
	Inquire(question string) (answers []string)

	// Ordered notes that an operator has given an order, and what it came to.
	Ordered(o Order)
}

// Proxy is what a proxy tells of itself.
type Proxy struct {
	ID      string    `json:"id"` // its run id
	Address string    `json:"address"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	Clients int       `json:"clients"`
	Ready   bool      `json:"ready"`
}

// Order is one that was carried out, or refused.
type Order struct {
	Name   string // LOCK FORCE
	About  string // the master, or the key
	Reason string
	Answer string

	Refused bool // Answer says why
	By      Snapshot
	Lock    bool   // About is a key, of By's database
	From    string // who is no client is known by; "" of one that is
}

// nobody is the lookout of a dialect that was given none: nothing was seen.
type nobody struct{ seen *registry.Registry }

func (n nobody) Seen() *registry.Registry   { return n.seen }
func (nobody) Clock() time.Duration         { return 0 }
func (nobody) Wall(time.Duration) time.Time { return time.Time{} }
func (nobody) InLine(int, string) int       { return 0 }
func (nobody) Connected(int64) bool         { return false }
func (nobody) Masters() []string            { return nil }
func (nobody) Self() Proxy                  { return Proxy{} }
func (nobody) Inquire(string) []string      { return nil }
func (nobody) Ordered(Order)                {}
