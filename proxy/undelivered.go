package proxy

// A lock that is won for a client who is gone would be held by nobody until its
// ttl ends. So an OK of which not one byte could be handed to the kernel is taken
// back. The end of input alone is no reason: a client may half-close and read on.

// A slot whose reply is an OK is a promise until then, in the order of the stream.

// promiseSize is about what a promise costs beside its reply, which is short: a client
// that does not read is owed that, too.
const promiseSize = 2 << 10

// kept forgets the promises of which the kernel has a byte. mu is held.
func (c *conn) kept() {
	for c.promises.head != nil && c.promises.head.begins < c.sent {
		s := c.promises.pop()
		s.results[0].Lock.Told()
		s.settled()
		c.release(s)
		c.unread -= promiseSize
	}
}

// broken are the OKs that will not be delivered any more, once the connection
// is cut off: those that wait for replies before them, and those that wait for
// the socket. What the kernel has of the latter is not known while somebody
// writes: whoever does asks again when that is over. mu is held.
func (c *conn) broken() (list []*slot) {
	if c.phase != cutOff {
		return nil
	}
	for !c.writing && c.promises.head != nil {
		list = append(list, c.promises.pop())
	}
	for s := c.owed.head; s != nil; s = s.next {
		if s.full && s.won {
			list = append(list, s)
		}
	}
	return list
}

func (c *conn) takeBack(list []*slot) {
	for _, s := range list {
		if s.block != nil {
			c.putBack(s).put()
			s.settled()
			continue
		}
		c.srv.engine.TakeBack(s.results[0].Lock)
		c.noteUndone(s)
		if c.srv.room.count.Load() > 0 {
			c.srv.room.freed(resource{s.asks[0].request.DB, s.asks[0].request.Key}, c.srv.clock())
		}
		c.srv.stats.undelivered.Add(1)
	}
}
