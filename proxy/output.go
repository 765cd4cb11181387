package proxy

import (
	"sync"
	"time"

	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

// buffer holds replies on their way to a client, and maybe a long one behind them. A
// connection that owes nothing has none.
type buffer struct {
	b    []byte
	long *resp.Long
	next *buffer
}

// output is the part of a connection that replies leave by. The connection's mu guards it.
type output struct {
	out      *buffer  // replies that are complete; nil if there are none
	outEnd   *buffer  // the last of them
	unread   int      // bytes of complete replies that the client has not taken, with their promises
	long     inLong   // and those of them that are encoded as they are written
	over     since    // unread has been much, of a subscriber
	widest   int      // bytes that the largest buffer had
	latest   int      // and that the one has that was taken out last
	pace     int      // how few of them the reader waits for
	writing  bool     // somebody writes
	answered bool     // the latest reply is to what masters were asked for
	pushed   uint64   // bytes of replies that went into out since the beginning
	sent     uint64   // and those of them that the kernel took
	promises slotLine // slots whose replies are OKs among the others, see undelivered.go
}

// maxPooledBuffer keeps the pool from holding on to what one long reply needed.
const maxPooledBuffer = 64 << 10

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, 1024)} }}

func (b *buffer) release() {
	if cap(b.b) <= maxPooledBuffer {
		*b = buffer{b: b.b[:0]}
		buffers.Put(b)
	}
}

// append adds a reply that needed no request, behind all that are owed. It is
// false if the connection has been cut off.
func (c *conn) append(encoded []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.appendTo(c.owed.tail, encoded)
}

// appendTo is append behind one that is owed, nil for none. mu is held.
func (c *conn) appendTo(last *slot, encoded []byte) bool {
	if c.phase == cutOff {
		return false
	}
	if last == nil {
		c.push(encoded)
	} else {
		last.after = append(last.after, encoded...)
	}
	c.unread += len(encoded)
	c.answered = false
	return true
}

// appendLong is append of a reply that is encoded as it is written.
func (c *conn) appendLong(l *resp.Long) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == cutOff {
		return false
	}
	if c.owed.tail == nil {
		c.pushLong(l)
	} else {
		s := c.spareSlot()
		s.full, s.long = true, l
		c.owed.push(s)
	}
	c.unread += l.Size
	c.long.add(l)
	c.answered = false
	return true
}

// complete fills a slot, whose keys are decided by that, and lets those leave the
// line that can. The slot is not the caller's any more; what its client was not told of is.
func (c *conn) complete(s *slot, now time.Duration, encoded []byte, long *resp.Long) (kept []string) {
	c.mu.Lock()
	ready := c.pass(s)
	if c.phase == cutOff {
		c.mu.Unlock()
		if s.won || s.block != nil { // though nobody was to be told
			c.takeBack([]*slot{s})
		}
		c.putAll(ready)
		return nil
	}
	kept = s.kept
	c.decided(s)
	var back *putBack
	if s.block != nil && c.unblock(s) {
		back, s.won, encoded, long = c.putBack(s), false, nil, nil
	}
	if !s.won {
		s.settled()
	}
	s.full, s.reply, s.long = true, encoded, long
	c.unread += len(encoded)
	if long != nil {
		c.unread += long.Size
		c.long.add(long)
	}
	c.window.decided(now, now-s.put, c.inFlight)
	c.srv.squeeze.waited(&c.window, now, s.tells(now), c.inFlight-s.weight+1)
	c.gathered -= s.gathered
	s.gathered = 0
	for c.owed.head != nil && c.owed.head.full {
		c.leave(c.owed.pop())
	}
	if c.inFlight <= c.wakesAt {
		c.wake()
	}
	c.mu.Unlock()
	c.putAll(ready)
	back.put()
	return kept
}

// leave sends what a slot holds that has left the line. mu is held.
func (c *conn) leave(s *slot) {
	s.begins = c.pushed
	c.answered = len(s.after) == 0
	c.push(s.reply)
	if s.long != nil {
		c.pushLong(s.long)
	}
	c.push(s.after)
	c.inFlight -= s.weight
	c.asked -= s.size
	if s.won {
		c.promises.push(s)
		c.unread += promiseSize
	} else {
		c.release(s)
	}
}

// push is called with mu held.
func (o *output) push(encoded []byte) {
	if len(encoded) == 0 {
		return
	}
	b := o.lastOut()
	b.b = append(b.b, encoded...)
	o.widest = max(o.widest, cap(b.b))
	o.pushed += uint64(len(encoded))
}

// pushLong is push of a reply that is encoded as it is written. mu is held.
func (o *output) pushLong(l *resp.Long) {
	o.lastOut().long = l
	o.pushed += uint64(l.Size)
}

// lastOut is the buffer that the next reply goes into. mu is held.
func (o *output) lastOut() *buffer {
	switch {
	case o.out == nil:
		o.out = buffers.Get().(*buffer)
		o.outEnd = o.out
	case o.outEnd.long != nil, len(o.outEnd.b) >= maxPooledBuffer: // one that grew on would be copied
		o.outEnd.next = buffers.Get().(*buffer)
		o.outEnd = o.outEnd.next
	}
	return o.outEnd
}

// popOut removes the first buffer, nil if there is none. mu is held.
func (o *output) popOut() *buffer {
	b := o.out
	if b != nil {
		o.out, b.next = b.next, nil
		o.latest = cap(b.b)
	}
	return b
}

// owesMuch tells that the client must read before it is carried out more for it. mu is
// held.
func (c *conn) owesMuch() bool { return c.unread > c.srv.cfg.Limits.MaxUnread }

// keepPace waits until the client has read all but so many bytes of its replies. A client
// that reads at all is so never owed too much, however much it asks for. It is false if the
// connection has been cut off.
func (c *conn) keepPace(most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.phase != cutOff && c.unread > most {
		c.pace = most
		c.waitFlushed()
	}
	c.pace = c.srv.cfg.Limits.MaxUnread
	return c.phase != cutOff
}

// overflow cuts off a client that does not read.
func (c *conn) overflow() {
	c.srv.stats.outputLimit.Add(1)
	c.srv.log.Warn("a client is cut off: it does not read its replies", "id", c.id, "addr", c.addr, "limit", c.srv.cfg.Limits.MaxUnread)
	c.cut()
}

// mostTelling is how many bytes of a command take no time of their own.
const mostTelling = 4 << 10

// tells is how long a slot took, where that tells of others, and else 0: one that comes to several
// requests may take long by itself, as does a script, or what masters are asked for one after the
// other; and what rests on another client's attempt has waited for that.
func (s *slot) tells(now time.Duration) time.Duration {
	r, kind := &s.results[0], s.asks[0].request.Kind
	if s.ordered || s.weight > 1 || s.size > mostTelling || kind == quorum.Run || kind == quorum.Survey || r.Votes == 0 {
		return 0
	}
	return now - s.put
}
