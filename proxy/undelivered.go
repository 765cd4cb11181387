package proxy

import (
	"time"

	"redlock-proxy/quorum"
)

// A lock that is won for a client who is gone would be held by nobody until its
// ttl ends. So an OK of which not one byte could be handed to the kernel is taken
// back. The end of input alone is no reason: a client may half-close and read on.

// promise is an OK on its way to the socket: the lock that it tells of, when
// that was won, and where in the stream of all replies the OK begins.
type promise struct {
	request *quorum.Request
	won     time.Duration // by the server's clock
	begins  uint64
}

// promised notes the place of an OK that is about to be pushed. mu is held.
func (c *conn) promised(s *slot) {
	if s.won != nil {
		c.promises = append(c.promises, promise{s.won, s.wonAt, c.pushed})
	}
}

// kept forgets the promises of which the kernel has a byte. mu is held.
func (c *conn) kept() {
	n := 0
	for n < len(c.promises) && c.promises[n].begins < c.sent {
		n++
	}
	if n == len(c.promises) {
		c.promises = nil
		return
	}
	c.promises = c.promises[n:]
}

// broken are the OKs that will not be delivered any more, once the connection
// is cut off: those that wait for replies before them, and those that wait for
// the socket. What the kernel has of the latter is not known while somebody
// writes: whoever does asks again when that is over. mu is held.
func (c *conn) broken() (list []promise) {
	if c.phase != cutOff {
		return nil
	}
	if !c.writing {
		list, c.promises = c.promises, nil
	}
	for s := c.head; s != nil; s = s.next {
		if s.full && s.won != nil {
			list = append(list, promise{request: s.won, won: s.wonAt})
		}
	}
	return list
}

func (c *conn) takeBack(list []promise) {
	for _, p := range list {
		c.srv.engine.TakeBack(p.request, c.srv.started.Add(p.won))
		c.srv.stats.undelivered.Add(1)
	}
}
