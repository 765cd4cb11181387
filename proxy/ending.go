package proxy

import (
	"crypto/tls"
	"net"
	"time"
)

// ending says, after a command, whether another is read: zero says yes.
type ending uint8

const (
	ended     ending = iota + 1 // the client asked for it, or is cut off
	lingering                   // the client may be sending on
)

// settle waits until the client has got what it is owed, or is gone.
func (c *conn) settle(linger bool) {
	c.mu.Lock()
	if c.phase < closing {
		c.phase = closing
		c.nc.SetWriteDeadline(time.Now().Add(closeTimeout))
	}
	c.mu.Unlock()
	if w := c.waiter.Load(); w != nil { // from now on nothing begins to wait
		t := c.srv.room.withdraw(w, true)
		t.do()
	}
	c.endBlock()
	c.mu.Lock()
	for c.phase == closing && (c.owed.head != nil || c.out != nil || c.writing) {
		c.waitFlushed()
	}
	gone := c.phase == cutOff
	c.mu.Unlock()
	if !linger || gone {
		return
	}
	nc := c.nc
	if over, ok := nc.(*tls.Conn); ok {
		over.CloseWrite() // the end of its session, which is a message
		nc = over.NetConn()
	}
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
		c.discard(nc)
	}
}

// discard reads until the client closes or lingerTimeout has passed. What a
// client sends that never stops is bounded by the time.
func (c *conn) discard(nc net.Conn) {
	c.setDeadline(nc.SetReadDeadline, time.Now().Add(lingerTimeout))
	k := chunks.Get().(*chunk)
	defer k.release()
	for {
		if _, err := nc.Read(k.buf); err != nil {
			return
		}
	}
}

// close ends the connection for good. Only the reader calls it, as the last
// thing, whatever came before.
func (c *conn) close() {
	c.mu.Lock()
	polite := c.phase == closing
	c.mu.Unlock()
	c.cut()
	c.mu.Lock()
	for c.writing {
		c.wait()
	}
	c.mu.Unlock()
	// The end of a TLS session is a message, which a client that does not read
	// would make us wait for.
	if over, ok := c.nc.(*tls.Conn); ok && !polite {
		over.NetConn().Close()
		return
	}
	c.nc.Close()
}

// cut ends the connection without another byte. Anybody may call it, and it
// does not wait: the reader does the rest.
func (c *conn) cut() {
	broken, t, pops := c.sever()
	c.takeBack(broken)
	t.do()
	pops.do()
}

// sever is cut, but for taking back the locks that nobody will hear of, and for those who come to their turn in a
// line by that, which it returns.
func (c *conn) sever() (broken []*slot, t todo, pops popTodo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == cutOff {
		return nil, t, pops
	}
	c.phase = cutOff
	if w := c.waiter.Load(); w != nil {
		t = c.srv.room.withdraw(w, true)
	}
	if p := c.popper.Load(); p != nil {
		_, pops = c.srv.blocked.withdraw(p, false)
	}
	broken = c.broken()
	c.owed, c.inFlight, c.undecided = slotLine{}, 0, undecided{}
	c.charge()
	for c.out != nil {
		c.popOut().release()
	}
	c.nc.SetDeadline(longAgo)
	c.wake()
	c.rouse()
	return broken, t, pops
}

// drain asks the reader to end once what has been read is answered.
func (c *conn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readNoMore()
}

// readNoMore is called with mu held.
func (c *conn) readNoMore() {
	if c.phase == serving {
		c.phase = draining
		c.nc.SetReadDeadline(longAgo)
		c.wake()
		c.rouse()
	}
}

// longAgo is a deadline that has passed: it wakes whoever reads or writes.
var longAgo = time.Unix(1, 0)
