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
	if last := c.owed.tail; last == nil {
		c.push(encoded)
	} else {
		last.after = append(last.after, encoded...)
	}
	over := c.owe(len(encoded))
	c.mu.Unlock()
	if over {
		c.overflow()
	}
	return !over
}

// complete fills a slot, whose keys are decided by that, and lets those leave the
// line that can. The slot is not the caller's any more.
func (c *conn) complete(s *slot, encoded []byte) {
	c.mu.Lock()
	if c.phase == cutOff {
		c.mu.Unlock()
		if s.won {
			c.takeBack([]*slot{s})
		}
		return
	}
	for _, key := range s.held {
		c.undecided.remove(key, s.queues)
	}
	s.full, s.reply = true, encoded
	for c.owed.head != nil && c.owed.head.full {
		c.leave(c.owed.pop())
	}
	over := c.owe(len(encoded))
	c.wake()
	c.mu.Unlock()
	if over {
		c.overflow()
	}
}

// leave sends what a slot holds that has left the line. mu is held.
func (c *conn) leave(s *slot) {
	s.begins = c.pushed
	c.push(s.reply)
	c.push(s.after)
	c.inFlight -= s.weight
	if s.won {
		c.promises.push(s)
		c.unread += promiseSize
	} else {
		c.release(s)
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
