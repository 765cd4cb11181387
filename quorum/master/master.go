package master

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// Master is one of the N independent Redis servers, as configured.
type Master struct {
	// Name is what logs and INFO show. It holds no secret.
	Name string

	// Network and Address are those of net.Dial; a host name is resolved at
	// each dial.
	Network, Address string

	// Dial, if not nil, is used instead of a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// TLS, if not nil, gives the configuration for each new connection.
	TLS func() *tls.Config

	// Credentials, if not nil, gives user and password for each new
	// connection. Either may be empty.
	Credentials func() (user, password string)

	// What follows is filled in by whoever uses the master: the engine, or what changes a set.

	Rooms   *Rooms               // what it may have us hold, in all databases
	DB      int                  // the database to select
	Boot    func() time.Duration // our clock
	Client  string               // what it is to call a connection, see ClientName; "": nothing
	Scripts []*Script            // which it is to know by their hashes
	Rights  [][]string           // calls that change nothing, which it must carry out
}
