package proxy

import (
	"context"
	"net"
	"syscall"
	"time"
)

// How a server parts from its clients. A command that arrives when its connection has been
// closed has no answer, and nobody can give it one: the end of the stream is already on its way,
// and its client sends again elsewhere, or fails. So what matters is when a connection is closed:
//
//	right behind an answer  of who asks often. The end reaches the client together with what
//	                        it waited for, before it asks for more. It is an answer of the masters:
//	                        behind those to PING, HELLO or AUTH the client asks for something.
//	after quietTime         of who asks seldom. Then a command crosses the end on its way only if
//	                        it is sent within half a round trip of it; and most libraries look
//	                        whether a connection is still there before they use one that was idle.
//	at the last             of who listens: subscribers, and who monitors. What the others
//	                        bring about until then is told.
//
// Who is in the middle of something (a transaction, a command that is not complete, more that
// is sent and not read) is waited for, for half of the time that there is. They are not spread
// over time: who is closed at once has been quiet, and libraries that connect again by
// themselves wait a random while before they do.
const (
	quietTime = 500 * time.Millisecond
	partTick  = 20 * time.Millisecond

	// partTime is for how long it is waited where Shutdown has no end.
	partTime = 5 * time.Second
)

// queueTime bounds for how long a listener that is to close is asked for more, in a flood.
const queueTime = time.Second

// Leave tells whoever asks that the server is about to end, so that clients are led elsewhere:
// it is not ready. It serves as before until Shutdown.
func (s *Server) Leave() { s.leaving.Store(true) }

// queued is a listener of which it can be known whether connections wait to be accepted.
type queued interface {
	net.Listener
	syscall.Conn
	SetDeadline(time.Time) error
}

// stopAccepting has Serve come back from Accept. Any other listener than a queued one is
// closed: it may be somebody else's too, as a socket of systemd's is, and what waits there is his.
func stopAccepting(ln net.Listener) {
	if q, ok := ln.(queued); !ok || q.SetDeadline(longAgo) != nil {
		ln.Close()
	}
}

// empty admits what waits in the queue of a listener that is to close, since the system resets
// what it finds there. What it takes in after the last look is reset yet.
func (s *Server) empty(ln net.Listener) {
	q, ok := ln.(queued)
	if !ok {
		return
	}
	end := time.Now().Add(queueTime)
	q.SetDeadline(end)
	for hasQueued(q) && time.Now().Before(end) {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		s.admit(nc)
	}
}

// part waits while clients are parted from.
func (s *Server) part(ctx context.Context) {
	patience := partTime
	if end, ok := ctx.Deadline(); ok {
		patience = time.Until(end) / 2
	}
	over, tick := time.NewTimer(patience), time.NewTicker(partTick)
	defer over.Stop()
	defer tick.Stop()
	for s.partQuiet() {
		select {
		case <-tick.C:
		case <-over.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// partQuiet parts from those who are quiet. It is false when there is nobody left to wait for.
func (s *Server) partQuiet() (more bool) {
	s.mu.Lock()
	conns := s.connections()
	more = len(s.listeners) > 0
	s.mu.Unlock()
	for _, c := range conns {
		more = c.partQuiet() || more
	}
	return more
}

// partQuiet is false of a connection that is about to end, or only listens.
func (c *conn) partQuiet() (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silence() >= quietTime && c.atRest() {
		c.readNoMore()
	}
	return c.phase == serving && !(c.listens() && c.owed.head == nil && !c.reading)
}

// part ends the connection once the server drains, if an answer of the masters was the last thing
// that was sent and nothing is under way. The end goes out here and now: the goroutine that does
// the rest may have to wait for its turn. mu is held.
func (c *conn) part() {
	switch {
	case !c.srv.draining.Load():
	case c.answered && c.atRest():
		if c.fd != noSocket {
			sysEnd(c.fd)
		}
		c.readNoMore()
	case c.fd != noSocket && c.phase < cutOff:
		sysPush(c.fd)
	}
}

// atRest: what was sent has been read, carried out and answered, and the client is not in the
// middle of a transaction. mu is held.
func (c *conn) atRest() bool {
	return c.phase == serving && !c.reading && !c.writing && c.owed.head == nil && c.out == nil &&
		c.pending.Load() == 0 && !c.snapshot.Load().Transacts() && !c.listens() && !hasInput(c.nc)
}

// listens: it may be told something that it has not asked for just now.
func (c *conn) listens() bool {
	session := c.snapshot.Load()
	return session.Subscribed() || session.Monitors
}
