package proxy

import (
	"unsafe"

	"redlock-proxy/quorum"
)

// What a client's undecided requests come to in bytes is bounded, so that it does not fill
// the masters' batches, which others wait for: the next one waits until there is room. Of
// a value that nothing is known of a client is believed little at first, and ever more
// while those that it reads are short.

const (
	// unknownWeight is what a value that nothing is known of is believed to come to: that
	// a client reads at first.
	unknownWeight = 128 << 10
	// lightWeight is what need not be counted.
	lightWeight = 4 << 10
)

// makeRoom waits until there is room for a request. It is false if the connection ended
// meanwhile. mu is held.
func (c *conn) makeRoom(a *ask) bool {
	known := c.srv.engine.Weight(a.request)
	n := known
	if a.request.Kind == quorum.Read {
		n = max(n, int(c.usual.Load()))
	}
	if n < lightWeight {
		return true
	}
	for c.phase != cutOff && c.weight > 0 && c.weight+n > c.srv.cfg.Limits.MaxAsked {
		c.waitFlushed()
	}
	if c.phase == cutOff {
		return false
	}
	a.weight = n
	c.weight += n
	if known >= lightWeight {
		a.crowds = known
		c.await(&c.srv.longs, &crowdWaiter{n: known}, longestInCrowd, longestInCrowd)
	}
	if c.phase != cutOff {
		return true
	}
	c.mu.Unlock()
	c.srv.longs.give(a.crowds)
	c.mu.Lock()
	return false
}

// gathers counts a long result that waits for others of its command.
func (c *conn) gathers(s *slot, r *quorum.Result) {
	n := resultSize(r)
	if n < lightWeight {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != cutOff {
		s.gathered += n
		c.gathered += n
		c.charge()
	}
}

// resultSize is about what a result takes, without what every one does.
func resultSize(r *quorum.Result) int {
	n := len(r.Value) + len(r.Reply.Str)
	if r.Script != nil {
		n += scriptReplySize(r.Script)
	}
	for i := range r.Answers {
		n += scriptReplySize(&r.Answers[i].Reply)
	}
	return n
}

func scriptReplySize(r *quorum.ScriptReply) int {
	n := len(r.Str)
	for i := range r.Elems {
		n += int(unsafe.Sizeof(*r)) + scriptReplySize(&r.Elems[i])
	}
	return n
}

// weighed makes room again once a request is decided, and notes what it came to.
func (c *conn) weighed(a *ask, r *quorum.Result) {
	if usual := int(c.usual.Load()); a.request.Kind == quorum.Read && (usual > 0 || len(r.Value) >= lightWeight) {
		if usual -= usual / 8; usual < lightWeight {
			usual = 0
		}
		c.usual.Store(int64(max(usual, len(r.Value))))
	}
	if a.weight == 0 {
		return
	}
	c.mu.Lock()
	c.weight -= a.weight
	c.wake()
	c.mu.Unlock()
	if a.crowds > 0 {
		c.srv.longs.give(a.crowds)
	}
}
