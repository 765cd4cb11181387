package proxy

import (
	"errors"
	"runtime"
	"sync"
	"syscall"

	"redlock-proxy/quorum"
)

// A plain connection has no reader of its own: the leader of a poller reads while
// there is input, and a goroutine is started for the end. Who reads has set reading.

// pollers are those of a server, which begin with the first connection that can be polled.
type pollers struct {
	mu     sync.Mutex
	all    []*poller
	denied bool // it was told that the system does not give what another one takes
	closed bool
}

// of is who is to read from a connection, nil if it is a goroutine of its own.
func (p *pollers) of(c *conn) *poller {
	if c.fd == noSocket {
		return nil
	}
	p.mu.Lock()
	denied := p.begin(c.srv)
	var of *poller
	if n := int64(len(p.all)); n > 0 {
		of = p.all[c.id%n]
	}
	p.mu.Unlock()
	if denied != nil {
		c.srv.log.Warn("the system denies a poller: clients may have a goroutine each until it gives one", "error", denied)
	}
	return of
}

// begin starts those that are missing. One can feed the masters' lanes of several cores. What the system denies, which
// it returns once, may be there for the next connection. mu is held.
func (p *pollers) begin(s *Server) (denied error) {
	for !p.closed && len(p.all) < max(1, runtime.GOMAXPROCS(0)/4) {
		one, err := newPoller(s)
		if err != nil {
			if !p.denied && !errors.Is(err, errors.ErrUnsupported) {
				p.denied, denied = true, err
			}
			return denied
		}
		p.all = append(p.all, one)
	}
	return nil
}

// close ends them, whose connections must have ended. From here on none begins.
func (p *pollers) close() {
	p.mu.Lock()
	all := p.all
	p.all, p.closed = nil, true
	p.mu.Unlock()
	for _, one := range all {
		one.close()
	}
}

// begin has a connection be read by its poller, or else by a goroutine of its own. mu is
// held.
func (c *conn) begin() {
	switch {
	case c.poller == nil:
		go c.serve()
	case c.phase != serving:
		go c.finish(false)
	case c.poller.watch(c) != nil:
		c.poller = nil
		go c.serve()
	default:
		c.reading = false
	}
}

// carryOn reads once, and carries out what came. It is false if the caller does not
// lead any more.
func (c *conn) carryOn() (leads bool) {
	c.mu.Lock()
	if c.reading {
		c.mu.Unlock()
		runtime.Gosched() // somebody is about to forget it
		return true
	}
	c.reading = true
	c.mu.Unlock()
	c.leads = true
	over, linger := c.readReady()
	leads, c.leads = c.leads, false
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goOn(over, linger, leads)
	return leads
}

// goOn has a connection be read again, be it that there is something kept, or end. mu is held.
func (c *conn) goOn(over, linger, leads bool) {
	switch {
	case over:
		go c.finish(linger)
	case c.stalled && !c.blocks && c.phase == serving:
		go c.resume()
	case leads && c.phase == serving:
		c.reading = false
		c.part()
	default:
		c.begin()
		c.part()
	}
}

// readReady reads once from a socket in which there is something. over says that the
// connection is to end.
func (c *conn) readReady() (over, linger bool) {
	defer c.recover()
	k := chunks.Get().(*chunk)
	defer k.release()
	n, err := sysRead(c.fd, k.buf)
	switch {
	case err == syscall.EAGAIN:
		return false, false
	case err != nil:
		c.cut()
		return true, false
	case n == 0:
		c.endInput()
		return true, false
	}
	last := c.received(k, k.buf[:n])
	return last != 0, last == lingering
}

// staying is with what the reader may stay with a request: nil where he has more to do.
func (c *conn) staying() quorum.Stay {
	if !c.leads || !c.noMore {
		return nil
	}
	return c.poller.staying()
}

// stepAside has another goroutine lead, before the reader waits for something or has
// much to do.
func (c *conn) stepAside() {
	if c.leads {
		c.leads = false
		c.poller.forget(c)
		c.poller.handOver()
	}
}

// rouse ends a connection that nobody reads from at this moment. mu is held.
func (c *conn) rouse() {
	if c.poller != nil && !c.reading {
		c.reading = true
		go c.finish(false)
	}
}

// finish ends a polled connection.
func (c *conn) finish(linger bool) {
	defer c.srv.leave(c)
	defer c.close()
	defer c.unsubscribeAll()
	defer c.recover()
	c.poller.forget(c)
	linger = c.runOut() || linger
	c.settle(linger || c.drained())
}

// endIdle ends the polled connections whose clients have been silent for too long.
func (s *Server) endIdle() {
	s.mu.Lock()
	conns := s.connections()
	s.mu.Unlock()
	for _, c := range conns {
		c.mu.Lock()
		if c.poller != nil && !c.reading && c.idle() {
			c.rouse()
		}
		c.mu.Unlock()
	}
}
