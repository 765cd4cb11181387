package proxy

import (
	"bytes"
	"time"
)

// What a client sends behind a command that may be blocked is kept until that is answered. It is read all the same: who
// goes away is noticed by the end of what he has sent, however much there is before it, and takes no element with him,
// be it that there is one at once, or that he has but ended what he sends.
// As much is kept as one command may have. Who sends more is cut off, as by Redis, if he stands in line; else he is
// not read from until it is known whether he does. Nobody waits meanwhile: whoever brings the answer has it carried out.

// behind is what is kept.
type behind struct {
	all []byte
	at  int // so much of it is carried out
}

func (b *behind) size() int { return len(b.all) - b.at }

func (b *behind) rest() []byte { return b.all[b.at:] }

// add has room for twice as much where it is too small, as gather has.
func (b *behind) add(p []byte) {
	if len(b.all)+len(p) > cap(b.all) {
		room := b.size() + len(p)
		if b.all != nil {
			room *= 2
		}
		b.all, b.at = append(make([]byte, 0, room), b.rest()...), 0
	}
	b.all = append(b.all, p...)
}

// leave keeps so many of the last bytes, and not much room besides: they may wait for long.
func (b *behind) leave(n int) {
	switch b.at = len(b.all) - n; {
	case n == 0:
		*b = behind{}
	case cap(b.all) > 2*n:
		*b = behind{all: bytes.Clone(b.rest())}
	}
}

// feedAll carries out what there is with p, and keeps what is behind a command that may be blocked. What was kept is carried
// out as if it were read now: no more of it at a time, and what it is answered is counted and sent meanwhile.
func (c *conn) feedAll(k *chunk, p []byte) (last ending) {
	b := &c.behind
	if b.size() == 0 {
		p, last = c.feed(k, p)
	}
	b.add(p)
	for last == 0 && b.size() > 0 && c.mayGoOn() {
		part := b.rest()[:min(b.size(), chunkSize)]
		p, last = c.feed(k, part)
		if b.leave(b.size() - len(part) + len(p)); b.size() > 0 && last == 0 {
			c.noteKept()
			c.flush()
			if c.gone() {
				last = ended
			}
		}
	}
	if last != 0 {
		*b = behind{}
	}
	return last
}

// stalls tells that what comes next is to be kept.
func (c *conn) stalls() bool {
	if !c.mayBlock {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mayBlock, c.stalled = c.blocks, c.blocks
	return c.blocks
}

// mayGoOn tells that what is kept is to be carried out.
func (c *conn) mayGoOn() bool {
	if !c.stalls() {
		return true
	}
	most := c.scan.Limits.MaxQuery
	if c.behind.size() <= most {
		return false
	}
	free, inLine := c.awaitUnblocked()
	if inLine {
		c.srv.stats.queryLimit.Add(1)
		c.srv.log.Warn("a client is cut off: what it has sent behind a command that is blocked is longer than the limit", "id", c.id, "addr", c.addr, "limit", most)
		c.cut()
	}
	return free
}

// awaitUnblocked waits until nothing is blocked, or it is known that the client stands in line: from that, one that is
// to end is taken. Neither is true if no more is carried out for him.
func (c *conn) awaitUnblocked() (free, inLine bool) {
	waits := func() bool { return c.blocks && !c.left && c.phase != cutOff }
	c.mu.Lock()
	defer c.mu.Unlock()
	for waits() {
		if c.popper.Load() != nil {
			if c.phase == serving && !c.eof {
				return false, true
			}
			c.mu.Unlock()
			c.endBlock()
			c.mu.Lock()
		}
		if waits() {
			c.waitFlushed()
		}
	}
	return !c.blocks && c.phase != cutOff, false
}

// endInput notes that the client sends no more.
func (c *conn) endInput() {
	c.mu.Lock()
	c.eof = true
	c.mu.Unlock()
}

// unblock notes that a command is answered that may have been blocked. It is true if its client has left by then: who
// has ended what he sends is not waited for, as on Redis, and has no element, since he may have gone. What he is owed
// before that is sent. mu is held.
func (c *conn) unblock(s *slot) (left bool) {
	c.wake()
	if c.left = c.eof && (s.won || s.popper != nil); !c.left {
		c.blocks = false
		c.unstall()
	}
	return c.left
}

// runOut carries out what is kept of a client from whom no more is read.
func (c *conn) runOut() (linger bool) {
	c.mu.Lock()
	over := c.behind.size() == 0 && !c.eof
	c.mu.Unlock()
	if over {
		return false
	}
	k := chunks.Get().(*chunk)
	defer k.release()
	for {
		if free, _ := c.awaitUnblocked(); !free || c.behind.size() == 0 {
			return false
		}
		if last := c.received(k, nil); last != 0 {
			return last == lingering
		}
	}
}

// unstall has what is kept be carried out, now that nothing before it is blocked. mu is held.
func (c *conn) unstall() {
	switch {
	case !c.stalled:
	case c.poller == nil:
		c.roused = true
		c.nc.SetReadDeadline(longAgo)
	case !c.reading:
		c.reading = true
		go c.resume()
	}
}

// wasRoused tells that it was unstall that woke the reader.
func (c *conn) wasRoused() (roused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if roused, c.roused = c.roused, false; roused && c.phase == serving {
		c.nc.SetReadDeadline(time.Time{})
	}
	return roused
}

// resume carries out what is kept of a polled connection.
func (c *conn) resume() {
	c.poller.forget(c)
	last := c.resumed()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goOn(last != 0, last == lingering, false)
}

func (c *conn) resumed() ending {
	defer c.recover()
	k := chunks.Get().(*chunk)
	defer k.release()
	return c.received(k, nil)
}
