package proxy

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum/registry"
)

// conn is one client's connection. Its reader, the goroutine that runs serve,
// reads commands, puts their requests to the engine, and alone closes it.
// Whoever else wants it to end sets its state and wakes the reader.
//
// It has many methods since one mutex is what a client's commands, answers and
// replies meet at; they stand in a file for each thing that it does, as the package's
// comment tells.
type conn struct {
	srv         *Server
	id          int64
	nc          net.Conn
	fd          int     // its socket; noSocket where only nc can read and write: TLS, pipes
	poller      *poller // nil where the reader is a goroutine of its own
	session     session
	addr, laddr string
	created     time.Duration // by the server's clock

	input // the reader's
	shown
	waiter atomic.Pointer[waiter] // its acquire that waits in a line, nil if none does
	popper atomic.Pointer[popper] // its command that is blocked, nil if none is

	mu      sync.Mutex // guards what follows
	changed sync.Cond  // what the reader may wait for has changed
	phase   phase
	waits   bool // the reader waits for changed
	blocks  bool // a command is not answered that may be blocked
	left    bool // whose client is not told of it, nor of anything behind it
	stalled bool // and something is kept behind it
	roused  bool // the reader is to carry that out
	eof     bool // the client sends no more
	reading bool // somebody carries out what it sends, begins or ends it
	asking
	output
	charged int64 // bytes that are counted in the server's memory
}

// shown is the part of a connection that anybody may look at, without mu.
type shown struct {
	active   atomic.Int64                      // when a byte came or went last, by the server's clock
	pending  atomic.Int64                      // bytes of an unfinished command
	room     atomic.Int64                      // and how many there is room for
	netIn    atomic.Int64                      // bytes that were read
	commands atomic.Int64                      // that were read
	last     atomic.Pointer[commands.Command]  // the latest command
	snapshot atomic.Pointer[commands.Snapshot] // the session as others may see it
	origin   atomic.Pointer[registry.Origin]   // the same, as the registry names it
	held     atomic.Int64                      // bytes that the reader keeps for the client between commands
	watched  atomic.Pointer[atomic.Int64]      // and of what it watches, nil if nothing
	usual    atomic.Int64                      // bytes of a value that nothing is known of, see weight.go
}

// noSocket is instead of a socket that is not there, or must not be gone around.
const noSocket = -1

// phase is where a connection stands in its life. It only grows.
type phase uint8

const (
	serving  phase = iota + 1
	draining       // no more commands are read
	closing        // and nothing but owed replies keeps it open
	cutOff         // nothing is owed any more
)

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{
		srv:     s,
		id:      s.lastID.Add(1),
		nc:      nc,
		fd:      socket(nc),
		addr:    addrText(nc.RemoteAddr(), nc.LocalAddr()),
		laddr:   addrText(nc.LocalAddr(), nc.LocalAddr()),
		created: s.clock(),
		phase:   serving,
	}
	c.active.Store(int64(c.created))
	c.changed.L = &c.mu
	c.usual.Store(unknownWeight)
	c.window.size, c.wakesAt, c.pace = firstWindow, anyNumber, s.cfg.Limits.MaxUnread
	c.scan.Limits = s.cfg.Limits.Input
	c.session = s.newSession(c.id)
	c.poller = s.pollers.of(c)
	c.reading = true
	c.show()
	return c
}

// addrText is an address as CLIENT LIST shows it: of a Unix socket, the path
// that the server listens on, and port 0.
func addrText(a, local net.Addr) string {
	switch a := a.(type) {
	case nil:
		return "?:0"
	case *net.UnixAddr:
		return local.String() + ":0"
	default:
		return a.String()
	}
}

// serve is the reader's life.
func (c *conn) serve() {
	defer c.srv.leave(c)
	defer c.close()
	defer c.unsubscribeAll()
	defer c.recover()
	if err := c.handshake(); err != nil {
		c.srv.log.Debug("TLS handshake", "id", c.id, "addr", c.addr, "error", err)
		c.cut()
		return
	}
	linger := c.readAll()
	c.settle(c.runOut() || linger)
}

func (c *conn) handshake() error {
	over, ok := c.nc.(*tls.Conn)
	if !ok {
		return nil
	}
	c.setDeadline(c.nc.SetDeadline, time.Now().Add(handshakeTimeout))
	err := over.Handshake()
	c.setDeadline(c.nc.SetDeadline, time.Time{})
	if err == nil {
		c.certified(over)
	}
	return err
}

// readAll reads until the connection is to end. linger says that the client
// may still be sending, and does not expect the end.
func (c *conn) readAll() (linger bool) {
	c.mu.Lock()
	c.reading = false
	c.mu.Unlock()
	for {
		k, p, err := c.receive()
		roused := c.wasRoused()
		if len(p) > 0 || roused {
			if last := c.busy(k, p); last != 0 {
				k.release()
				return last == lingering
			}
		}
		k.release()
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.mu.Lock()
			idle := c.idle()
			c.mu.Unlock()
			if idle && !roused {
				return c.drained()
			}
		case errors.Is(err, io.EOF):
			c.endInput()
			return false
		default:
			c.cut()
			return false
		}
	}
}

// busy is received of a connection that has a goroutine of its own.
func (c *conn) busy(k *chunk, p []byte) ending {
	c.mu.Lock()
	c.reading = true
	c.mu.Unlock()
	last := c.received(k, p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	c.part()
	return last
}

// drained tells that the server ends a connection whose client may be sending.
func (c *conn) drained() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase == draining && c.silence() < time.Second
}

// idle says of a connection of which nothing was read whether it is to end. A
// subscriber, or who monitors, may be silent for ever. mu is held.
func (c *conn) idle() bool {
	if c.phase != serving {
		return true
	}
	session := c.session.Snapshot()
	return c.owed.head == nil && !c.stalled && c.silence() >= c.srv.cfg.Timeout && !session.Subscribed() && !session.Monitors
}

// touch notes that a byte came or went.
func (c *conn) touch() { c.active.Store(int64(c.srv.clock())) }

// silence is for how long none did.
func (c *conn) silence() time.Duration { return c.srv.clock() - time.Duration(c.active.Load()) }

// setDeadline sets a deadline, but not over one by which cut or drain wakes the
// reader.
func (c *conn) setDeadline(set func(time.Time) error, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == serving || c.phase == closing {
		set(t)
	}
}

// wait gives mu up until something has changed. Only the reader waits.
func (c *conn) wait() {
	c.stepAside()
	c.waits = true
	c.changed.Wait()
	c.waits = false
}

// wake is called with mu held after a change that the reader may wait for.
func (c *conn) wake() {
	if c.waits {
		c.changed.Signal()
	}
}

// recover makes a panic cost this connection and nothing else.
func (c *conn) recover() {
	if v := recover(); v != nil {
		c.panicked(v)
	}
}

func (c *conn) panicked(v any) {
	c.srv.log.Error("a panic ends this connection", "id", c.id, "addr", c.addr, "panic", v, "stack", string(debug.Stack()))
	c.cut()
	c.unbar()
}
