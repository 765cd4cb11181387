package admin

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections is a listener with a bound on what is open of it. Where there are too many, the
// one that has waited longest makes room, of those for which no handler is at work: whoever
// opens many, and says nothing or does not read, keeps no health check out.
type connections struct {
	net.Listener
	most int

	mu   sync.Mutex // guards what follows, and of each connection what says so
	open map[*connection]struct{}
	last uint64
}

// connection is one of them.
type connection struct {
	net.Conn
	of *connections

	busy   bool   // it is being answered. Guarded by of.mu
	waited uint64 // its turn to make room: the least first. Guarded by of.mu
}

func newConnections(ln net.Listener, most int) *connections {
	return &connections{Listener: ln, most: most, open: make(map[*connection]struct{})}
}

// Accept waits for a connection that there is room for.
func (l *connections) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: nc, of: l}
		l.mu.Lock()
		var leaves *connection
		if len(l.open) >= l.most {
			leaves = c
			for other := range l.open {
				if !other.busy && (leaves == c || other.waited < leaves.waited) {
					leaves = other
				}
			}
			delete(l.open, leaves)
		}
		if leaves != c {
			l.open[c] = struct{}{}
			c.rest()
		}
		l.mu.Unlock()
		if leaves != nil {
			leaves.Conn.Close()
		}
		if leaves != c {
			return c, nil
		}
	}
}

// Close accepts no more, and closes what is not being answered.
func (l *connections) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if !c.busy {
			delete(l.open, c)
			c.Conn.Close()
		}
	}
	return err
}

// rest gives the connection its turn, behind all others. of.mu is held.
func (c *connection) rest() {
	c.of.last++
	c.busy, c.waited = false, c.of.last
}

// Close closes it, and there is room for another.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

type connectionKey struct{}

// withConnection has a request know its connection.
func withConnection(ctx context.Context, nc net.Conn) context.Context {
	if over, ok := nc.(*tls.Conn); ok {
		nc = over.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, nc)
}

// connectionOf is the connection of a request, nil in a test without one.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// holding answers a request on a connection that makes room for no other meanwhile.
func holding(h http.Handler, w http.ResponseWriter, r *http.Request) {
	c := connectionOf(r)
	if c == nil {
		h.ServeHTTP(w, r)
		return
	}
	c.of.mu.Lock()
	c.busy = true
	c.of.mu.Unlock()
	defer func() {
		c.of.mu.Lock()
		c.rest()
		c.of.mu.Unlock()
	}()
	h.ServeHTTP(w, r)
}

// writeWithin has the connection cut off if what is written to it does not go in that time.
func writeWithin(w http.ResponseWriter, d time.Duration) {
	// A writer without deadlines is a test's.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d))
}
