package proxy

import (
	"errors"
	"os"
	"syscall"
	"time"
)

const (
	// flushRounds is how often flush goes back for replies that came while it
	// wrote: an engine's goroutine has other clients too.
	flushRounds = 4

	// pieceSize is how much the writer gives to the socket at once, so that the
	// deadline of a closing connection moves on as its client reads.
	pieceSize = 64 << 10
)

// flush hands replies to the socket without waiting for it. What the socket
// does not take, and everything where there is no socket, is left to a
// writer that lives until there is nothing more to write.
func (c *conn) flush() {
	for range flushRounds {
		b := c.take()
		if b == nil {
			return
		}
		if c.fd == noSocket {
			go c.write(b, 0)
			return
		}
		n, err := c.tryWrite(b.b)
		c.wrote(n)
		if err != nil {
			c.cut()
			c.doneWriting()
			return
		}
		if n < len(b.b) {
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
	if c.writing || c.out == nil {
		return nil
	}
	b := c.out
	c.out, c.writing = nil, true
	return b
}

func (c *conn) doneWriting() {
	c.mu.Lock()
	c.writing = false
	c.wake()
	broken := c.broken()
	c.mu.Unlock()
	c.takeBack(broken)
}

// tryWrite gives p to the socket once and never waits. The connection is not closed
// while somebody writes.
func (c *conn) tryWrite(p []byte) (int, error) {
	n, err := sysWrite(c.fd, p)
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
		for n < len(b.b) {
			c.allowWrite()
			wrote, err := c.nc.Write(b.b[n:min(n+pieceSize, len(b.b))])
			c.wrote(wrote)
			n += wrote
			slow := wrote > 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.allowWrite()
			if err != nil && !slow {
				c.cut()
				c.doneWriting()
				return
			}
		}
		b.release()
		b, n = c.takeMore(), 0
	}
}

// takeMore is take for the one who writes. If there is nothing to write, that
// one is done: in the same step, or what comes in between would stay behind.
func (c *conn) takeMore() *buffer {
	c.mu.Lock()
	b := c.out
	c.out = nil
	var broken []*slot
	if b == nil {
		c.writing = false
		c.wake()
		broken = c.broken()
	}
	c.mu.Unlock()
	c.takeBack(broken)
	return b
}

// allowWrite gives the client of a closing connection time for the next piece.
func (c *conn) allowWrite() (isClosing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != closing {
		return false
	}
	c.nc.SetWriteDeadline(time.Now().Add(closeTimeout))
	return true
}

func (c *conn) wrote(n int) {
	if n <= 0 {
		return
	}
	c.touch()
	c.srv.stats.output.Add(uint64(n))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread -= n
	c.sent += uint64(n)
	c.kept()
}

// waitFlushed is wait, but what is owed goes out first. It is called with mu
// held, and may return without a change.
func (c *conn) waitFlushed() {
	if c.out == nil || c.writing {
		c.wait()
		return
	}
	c.mu.Unlock()
	c.flush()
	c.mu.Lock()
}
