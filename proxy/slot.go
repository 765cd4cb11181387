package proxy

import (
	"slices"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// slot is the place of one command in the line of replies that its connection
// owes. It is filled when all its requests are answered, by whoever brings the
// last answer, and leaves the line when all before it have left.
//
// Commands that need no request have no slot: their replies go behind that of
// the last slot in the line.
type slot struct {
	conn    *conn
	command *commands.Command
	render  commands.Render
	begun   time.Duration // by the server's clock
	proto   int
	muted   bool

	// ordered: the keys of all requests are undecided until the reply is known,
	// because Render may come to more requests. held are the keys that this
	// slot leaves undecided, for that or because a request does.
	ordered bool
	held    []string

	won   *quorum.Request // the acquire that the reply tells to have been won
	wonAt time.Duration   // by the server's clock

	asks    []ask
	results []quorum.Result
	missing atomic.Int32 // answers
	weight  int          // in inFlight

	// One request is the rule; it costs no further allocation.
	oneAsk    [1]ask
	oneResult [1]quorum.Result
	oneKey    [1]string
	small     [40]byte

	// The connection's mu guards what follows.
	next  *slot
	full  bool
	reply []byte
	after []byte // replies of commands that need no request
}

// ask is one request of a slot, and the engine's asker for it.
type ask struct {
	slot    *slot
	request *quorum.Request
	n       int
}

func newSlot(c *conn, a *commands.Action, begun time.Duration) *slot {
	s := &slot{
		conn:    c,
		command: a.Command,
		begun:   begun,
		proto:   c.session.Proto(),
		muted:   a.Muted,
		ordered: a.Continues,
		weight:  len(a.Requests),
	}
	s.held = s.oneKey[:0]
	s.expect(a.Requests, a.Render)
	return s
}

// expect prepares the slot for the answers to requests.
func (s *slot) expect(requests []quorum.Request, render commands.Render) {
	s.render = render
	s.asks, s.results = s.oneAsk[:], s.oneResult[:]
	// The engine may still be about to flush an ask that it has answered.
	if len(requests) > 1 || s.oneAsk[0].slot != nil {
		s.asks, s.results = make([]ask, len(requests)), make([]quorum.Result, len(requests))
	}
	for i := range requests {
		s.asks[i] = ask{slot: s, request: &requests[i], n: i}
	}
	s.missing.Store(int32(len(requests)))
}

// put gives a slot its place in the line and puts its requests, each as soon
// as nothing before it leaves its key undecided. Only the reader calls it. It
// is false if the connection ended meanwhile.
func (c *conn) put(s *slot) bool {
	c.mu.Lock()
	for c.phase != cutOff && c.inFlight > 0 && c.inFlight+s.weight > c.srv.cfg.Limits.MaxInFlight {
		c.waitFlushed()
	}
	c.inFlight += s.weight
	if c.tail == nil {
		c.head = s
	} else {
		c.tail.next = s
	}
	c.tail = s
	c.mu.Unlock()

	for i := range s.asks {
		a := &s.asks[i]
		if !c.enter(s, a.request) {
			return false
		}
		c.srv.engine.Put(a.request, a)
	}
	return true
}

// smallMap is how many entries a map has room for without growing. One that
// grew is not kept.
const smallMap = 8

// enter waits until the keys of r are decided (for a survey, all keys) and, if r
// leaves them undecided, says so. It is false if the connection ended meanwhile: what has
// not been put by then is not carried out.
func (c *conn) enter(s *slot, r *quorum.Request) bool {
	if r.Kind == quorum.Survey && !c.enterAll() {
		return false
	}
	one := [1]string{r.Key}
	keys := one[:]
	if r.Kind == quorum.Run {
		keys = r.Keys
	}
	for _, key := range keys {
		if !slices.Contains(s.held, key) && !c.enterKey(s, key, undecides(r)) {
			return false
		}
	}
	return true
}

// undecides tells of a request that it leaves its keys undecided until it is
// answered: it may be undone and tried again, or, of an extension, it gives the
// key again to masters that have lost it.
func undecides(r *quorum.Request) bool {
	return r.Kind == quorum.Acquire || r.Kind == quorum.Run || r.Kind == quorum.Extend
}

func (c *conn) enterKey(s *slot, key string, undecides bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.phase != cutOff && c.undecided[key] > 0 {
		c.waitFlushed()
	}
	if c.phase == cutOff {
		return false
	}
	if s.ordered || undecides {
		s.held = append(s.held, key)
		if c.undecided == nil {
			c.undecided = make(map[string]int, 1)
		}
		c.undecided[key]++
		c.crowded = c.crowded || len(c.undecided) > smallMap
	}
	return true
}

// enterAll waits until no key is undecided.
func (c *conn) enterAll() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.phase != cutOff && len(c.undecided) > 0 {
		c.waitFlushed()
	}
	return c.phase != cutOff
}

// decided takes back what enter said of a key.
func (c *conn) decided(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if n := c.undecided[key]; n > 1 {
			c.undecided[key] = n - 1
		} else {
			delete(c.undecided, key)
		}
	}
	if c.crowded && len(c.undecided) == 0 {
		c.undecided, c.crowded = nil, false
	}
	c.wake()
}

// Answer is the engine's. It runs on whatever goroutine cast the deciding vote.
func (a *ask) Answer(result quorum.Result) (flusher quorum.Flusher) {
	s, c := a.slot, a.slot.conn
	flusher = c // also after a panic
	defer c.recover()
	s.results[a.n] = result
	if s.missing.Add(-1) == 0 {
		s.fill()
	}
	return flusher
}

// Flush is the engine's, after Answer.
func (c *conn) Flush() {
	defer c.recover()
	c.flush()
}

// fill makes the reply of the results, or asks on. A client that is gone does
// not stop that: what it asked for is carried out to the end.
func (s *slot) fill() {
	reply, next := s.render.Render(s.results)
	if len(next.Requests) > 0 {
		s.askOn(next)
		return
	}
	c := s.conn
	now := c.srv.clock()
	c.srv.stats.done(s.command, now-s.begun, &reply)
	var encoded []byte
	if !s.muted {
		encoded = appendReply(s.small[:0], &reply, s.proto)
		if r := s.asks[0].request; r.Kind == quorum.Acquire && s.results[0].Decision == quorum.Won {
			s.won, s.wonAt = r, now
		}
	}
	c.complete(s, encoded)
	if len(s.held) > 0 {
		c.decided(s.held...)
	}
}

// askOn puts the requests that follow from the results, all at once: their
// keys are the slot's, which keep later commands waiting as it is.
func (s *slot) askOn(next commands.Action) {
	db := s.asks[0].request.DB
	s.expect(next.Requests, next.Render)
	for i := range next.Requests {
		next.Requests[i].DB = db
		s.conn.srv.engine.Put(&next.Requests[i], &s.asks[i])
	}
}
