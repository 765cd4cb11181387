package proxy

import (
	"sync"
)

// buffer holds replies on their way to a client. A connection that owes
// nothing has none.
type buffer struct{ b []byte }

// maxPooledBuffer keeps the pool from holding on to what one long reply needed.
const maxPooledBuffer = 64 << 10

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, 1024)} }}

func (b *buffer) release() {
	if cap(b.b) <= maxPooledBuffer {
		b.b = b.b[:0]
		buffers.Put(b)
	}
}

// append adds a reply that needed no request, behind all that are owed. It is
// false if the connection has been cut off, perhaps for this reply.
func (c *conn) append(encoded []byte) bool {
	c.mu.Lock()
	if c.phase == cutOff {
		c.mu.Unlock()
		return false
	}
	if c.tail == nil {
		c.push(encoded)
	} else {
		c.tail.after = append(c.tail.after, encoded...)
	}
	over := c.owe(len(encoded))
	c.mu.Unlock()
	if over {
		c.overflow()
	}
	return !over
}

// complete fills a slot and lets those leave the line that can.
func (c *conn) complete(s *slot, encoded []byte) {
	c.mu.Lock()
	over := false
	if c.phase == cutOff && s.won != nil {
		defer c.takeBack([]promise{{request: s.won, won: s.wonAt}})
	}
	if c.phase != cutOff {
		s.full, s.reply = true, encoded
		over = c.owe(len(encoded))
		for c.head != nil && c.head.full {
			first := c.head
			c.promised(first)
			c.push(first.reply)
			c.push(first.after)
			c.inFlight -= first.weight
			c.head, first.next = first.next, nil
		}
		if c.head == nil {
			c.tail = nil
		}
		c.wake()
	}
	c.mu.Unlock()
	if over {
		c.overflow()
	}
}

// push is called with mu held.
func (c *conn) push(encoded []byte) {
	if len(encoded) == 0 {
		return
	}
	if c.out == nil {
		c.out = buffers.Get().(*buffer)
	}
	c.out.b = append(c.out.b, encoded...)
	c.pushed += uint64(len(encoded))
}

// owe is called with mu held, and says whether the client is owed too much.
func (c *conn) owe(n int) bool {
	c.unread += n
	return c.unread > c.srv.cfg.Limits.MaxUnread
}

func (c *conn) overflow() {
	c.srv.stats.outputLimit.Add(1)
	c.srv.log.Warn("a client is cut off: it does not read its replies", "id", c.id, "addr", c.addr, "limit", c.srv.cfg.Limits.MaxUnread)
	c.cut()
}
