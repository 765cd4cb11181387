package proxy

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"

	"redlock-proxy/proxy/resp"
)

// flushRounds is how often flush goes back for replies that came while it
// wrote: an engine's goroutine has other clients too.
const flushRounds = 4

// flush hands replies to the socket without waiting for it. What the socket
// does not take, and everything where there is no socket, is left to a
// writer that lives until there is nothing more to write.
func (c *conn) flush() {
	defer c.srv.relieve()
	for range flushRounds {
		b := c.take()
		if b == nil {
			return
		}
		if c.fd == noSocket {
			go c.write(b, 0)
			return
		}
		n, err := c.tryWrite(b.b[:min(len(b.b), resp.PieceSize)])
		c.wrote(n)
		if err != nil {
			c.cut()
			c.doneWriting()
			return
		}
		if n < len(b.b) || b.long != nil {
			go c.write(b, n)
			return
		}
		b.release()
		c.doneWriting()
	}
	if b := c.take(); b != nil {
		go c.write(b, 0)
	}
}

// take makes the caller the one who writes, if there is something to write and
// nobody does.
func (c *conn) take() *buffer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charge()
	if c.writing || c.out == nil {
		return nil
	}
	c.writing = true
	return c.popOut()
}

func (c *conn) doneWriting() {
	c.mu.Lock()
	c.writing = false
	c.wake()
	broken := c.broken()
	c.part()
	c.mu.Unlock()
	c.takeBack(broken)
}

// tryWrite gives p to the socket once and never waits. The connection is not closed
// while somebody writes.
func (c *conn) tryWrite(p []byte) (int, error) {
	write := sysWrite
	if c.srv.draining.Load() {
		write = sysWriteMore // see part
	}
	n, err := write(c.fd, p)
	if err == syscall.EAGAIN {
		return 0, nil
	}
	return n, err
}

// write is the writer's life: b from n on, and whatever comes meanwhile.
func (c *conn) write(b *buffer, n int) {
	defer func() {
		if v := recover(); v != nil {
			c.panicked(v)
			c.doneWriting()
		}
	}()
	for b != nil {
		if !c.writeAll(b.b[n:]) || b.long != nil && !c.writeLong(b.long) {
			c.cut()
			c.doneWriting()
			return
		}
		b.release()
		b, n = c.takeMore(), 0
	}
}

// writeAll writes p, and waits for the client to read. It is false if the connection is to
// be cut off.
func (c *conn) writeAll(p []byte) bool {
	for len(p) > 0 {
		c.allowWrite()
		n, err := c.nc.Write(p[:min(len(p), resp.PieceSize)])
		c.wrote(n)
		p = p[n:]
		if err != nil && !(errors.Is(err, os.ErrDeadlineExceeded) && c.mayBeSlow(n > 0)) {
			return false
		}
		runtime.Gosched() // whoever reads much has others served in between
	}
	return true
}

// writeLong is writeAll of a reply that is encoded on the way.
func (c *conn) writeLong(l *resp.Long) bool {
	left := l.Size
	c.mu.Lock()
	c.long.begin(l)
	c.mu.Unlock()
	for p := range l.Pieces {
		left -= len(p)
		if !c.writeAll(p) {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took(left) // which it turned out not to need
	c.long.end()
	c.charge()
	return true
}

// takeMore is take for the one who writes. If there is nothing to write, that
// one is done: in the same step, or what comes in between would stay behind.
func (c *conn) takeMore() *buffer {
	c.mu.Lock()
	b := c.popOut()
	var broken []*slot
	if b == nil {
		c.writing = false
		c.wake()
		broken = c.broken()
		c.part()
	}
	c.mu.Unlock()
	c.takeBack(broken)
	return b
}

// allowWrite gives the client time for the next piece: less if the connection is closing.
func (c *conn) allowWrite() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.phase {
	case serving, draining:
		c.nc.SetWriteDeadline(time.Now().Add(unreadTimeout))
	case closing:
		c.nc.SetWriteDeadline(time.Now().Add(closeTimeout))
	}
}

// mayBeSlow says whether the connection goes on though its client's time for a piece is
// over, of which it took something or nothing. Who reads nothing for so long is cut off,
// as soon as much waits for it.
func (c *conn) mayBeSlow(took bool) bool {
	c.mu.Lock()
	phase, much := c.phase, c.unread > c.srv.cfg.Limits.MaxUnread/4
	c.mu.Unlock()
	switch phase {
	case serving, draining:
		if !took && much {
			c.overflow()
		}
		return took || !much
	case closing:
		return took
	}
	return false
}

func (c *conn) wrote(n int) {
	if n <= 0 {
		return
	}
	c.touch()
	c.srv.stats.output.Add(uint64(n))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took(n)
}

// took notes that the kernel has n bytes more. mu is held.
func (c *conn) took(n int) {
	much := c.unread > c.pace
	c.unread -= n
	c.long.took(n)
	c.sent += uint64(n)
	c.kept()
	if much && c.unread <= c.pace {
		c.wake()
	}
	if c.unread <= c.srv.cfg.Limits.MaxUnread/4 {
		c.over.so = false
	}
	c.charge()
}

// waitFlushed is wait, but what is owed goes out first. It is called with mu
// held, and may return without a change.
func (c *conn) waitFlushed() {
	c.pauses++
	if c.out == nil || c.writing {
		c.wait()
		return
	}
	c.mu.Unlock()
	c.flush()
	c.mu.Lock()
}
