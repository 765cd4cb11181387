package proxy

import "redlock-proxy/quorum"

// A lock that is won for a client who is gone would be held by nobody until its
// ttl ends. So an OK of which not one byte could be handed to the kernel is taken
// back. The end of input alone is no reason: a client may half-close and read on.

// promise is an OK on its way to the socket: the lock that it tells of, and
// where in the stream of all replies it begins.
type promise struct {
	request *quorum.Request
	begins  uint64
}

// promised notes the place of an OK that is about to be pushed. mu is held.
func (c *conn) promised(s *slot) {
	if s.won != nil {
		c.promises = append(c.promises, promise{s.won, c.pushed})
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

// broken are the locks of all OKs that will not be delivered any more: those
// that wait for the socket, and those that wait for replies before them. mu is
// held.
func (c *conn) broken() (requests []*quorum.Request) {
	for _, p := range c.promises {
		requests = append(requests, p.request)
	}
	for s := c.head; s != nil; s = s.next {
		if s.full && s.won != nil {
			requests = append(requests, s.won)
		}
	}
	c.promises = nil
	return requests
}

func (c *conn) takeBack(requests []*quorum.Request) {
	for _, r := range requests {
		c.srv.engine.TakeBack(r)
		c.srv.stats.undelivered.Add(1)
	}
}
