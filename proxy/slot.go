package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/registry"
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
	raw     []byte             // the command, until it is answered
	by      *commands.Snapshot // of an order that is audited: the same
	origin  *registry.Origin   // who has asked, whoever he says that he is later
	begun   time.Duration      // by the server's clock
	put     time.Duration      // and when there was room for it
	proto   int
	muted   bool

	holds
	across
	turn *crowd // which it was to wait for, see probation.go; nil if for none

	nth     int64   // of the commands that its connection has sent
	mayWait bool    // in a line, see waiting.go
	waiter  *waiter // nil: it has not
	blocking
	tracked
	won bool // the reply tells of a lock, or of elements, that the first request has won

	asks    []ask
	results []quorum.Result
	missing atomic.Int32 // answers
	weight  int          // in inFlight
	size    int          // in asked

	single single
	place
}

// single is the room for what a slot has one of. One request is the rule; it costs no
// further allocation.
type single struct {
	request [1]quorum.Request
	ask     [1]ask
	result  [1]quorum.Result
	key     [1]string
	reply   [40]byte
}

// place is where a slot stands in the line, with its reply. The connection's mu guards it.
type place struct {
	next  *slot
	full  bool
	reply []byte
	long  *resp.Long // instead of reply
	after []byte     // replies of commands that need no request

	gathered int    // bytes of results, until all are there
	begins   uint64 // where the reply begins in the stream of all
}

// slots are used again: one that has left the line is nobody's any more, unless it
// is a promise. A connection keeps them while it owes anything, and then gives all back
// at once: here are lists of them. Those of a connection that is cut off are left to the
// collector, since answers for them are still to come.
var slots = sync.Pool{New: func() any { return new(slot) }}

// release keeps a slot as newSlot needs it. mu is held.
func (c *conn) release(s *slot) {
	*s = slot{}
	s.next = c.spare
	c.spare = s
	if c.owed.head == nil && c.promises.head == nil {
		slots.Put(c.spare)
		c.spare = nil
	}
}

// ask is one request of a slot, and the engine's asker for it.
type ask struct {
	slot    *slot
	request *quorum.Request
	n       int
	weight  int // in that of its connection
	crowds  int // and in that of all
	noted   bool
}

// spareSlot is a slot as new. mu is held.
func (c *conn) spareSlot() *slot {
	s := c.spare
	if s == nil {
		s = slots.Get().(*slot)
	}
	c.spare, s.next = s.next, nil
	return s
}

// newSlot is called with mu held.
func (c *conn) newSlot(a *commands.Action, begun time.Duration) *slot {
	s := c.spareSlot()
	s.conn, s.command, s.origin, s.begun, s.raw = c, a.Command, c.origin.Load(), begun, c.raw
	s.proto, s.muted, s.ordered = c.session.Proto(), a.Muted, a.Continues
	s.weight, s.size, s.across = len(a.Requests), c.size, acrossOf(a)
	s.held = s.single.key[:0]
	if c.srv.isOrder(a.Command) {
		s.by = c.snapshot.Load()
	}
	s.nth, s.mayWait = c.commands.Load(), c.mayWait(a)
	if s.block = a.Block; s.block != nil {
		c.mayBlock, c.blocks = true, true
		c.srv.taking.Add(1)
		if c.srv.blocked.waited(a.Requests[0].DB, s.block) {
			s.block.Look(&a.Requests[0])
		}
	}
	s.trackFor(a)
	requests := a.Requests // the session's, until its next command
	if len(requests) == 1 {
		s.queues = !s.ordered && requests[0].Kind == quorum.Acquire
		requests = s.single.request[:copy(s.single.request[:], requests)]
	}
	s.expect(requests, a.Render)
	s.sample(begun)
	return s
}

// expect prepares the slot for the answers to requests.
func (s *slot) expect(requests []quorum.Request, render commands.Render) {
	s.render = render
	s.rest.Store(false)
	s.asks, s.results = s.single.ask[:], s.single.result[:]
	if len(requests) > 1 {
		s.asks, s.results = make([]ask, len(requests)), make([]quorum.Result, len(requests))
	}
	for i := range requests {
		requests[i].Tracked, requests[i].Spares = len(s.tracks) > 0, len(s.mine) > 0
		s.asks[i] = ask{slot: s, request: &requests[i], n: i}
	}
	s.missing.Store(int32(len(requests)))
}

// put gives a command its slot in the line and puts its requests, each as soon
// as nothing before it leaves its key undecided, or is not to be passed. Only the
// reader calls it. It is false if the connection ended meanwhile.
func (c *conn) put(a *commands.Action, now time.Time, burden int) bool {
	begun := now.Sub(c.srv.started)
	if len(a.Tracks) > 0 && !c.snapshot.Load().Tracking.Bcast {
		c.srv.tracking.want(c.srv, a.Requests[0].DB, a.Tracks, begun)
	}
	c.mu.Lock()
	pauses := c.pauses
	c.awaitOthers(a)
	c.awaitRoom(begun, len(a.Requests))
	turn := c.awaitTurn(a, burden)
	s := c.newSlot(a, begun)
	s.turn = turn
	if s.put = begun; c.pauses != pauses {
		s.put = c.srv.clock()
	}
	c.inFlight += s.weight
	c.asked += s.size
	c.owed.push(s)
	c.stand(s, a)
	for i := range s.asks { // the last Put may be the end of s
		if i > 0 {
			c.mu.Lock()
		}
		a := &s.asks[i]
		entered, joined, t := c.enter(s, a.request), false, todo{}
		if entered && s.mayWait {
			joined, t = c.join(s)
		}
		entered = joined || entered && c.makeRoom(a) // who has joined is not put yet
		barred := entered && s.bars()
		waited := c.pauses != pauses
		c.mu.Unlock()
		switch {
		case !entered:
			s.forgo()
			return false
		case barred:
		case joined:
			t.do()
		case waited || i > 0: // and something was put meanwhile
			c.srv.engine.Put(a.request, a)
		case len(s.asks) > 1: // the others are not to wait for the first
			c.srv.engine.PutSince(a.request, a, now)
		default:
			c.srv.engine.PutStaying(a.request, a, now, c.staying())
		}
	}
	return true
}

// Answer is the engine's. It runs on whatever goroutine cast the deciding vote.
func (a *ask) Answer(result quorum.Result) (flusher quorum.Flusher) {
	s, c := a.slot, a.slot.conn
	flusher = c // also after a panic
	defer c.recover()
	s.results[a.n] = result
	a.noteFreed(&result)
	a.trace(&result)
	c.weighed(a, &result)
	c.gathers(s, &result)
	if s.missing.Add(-1) == 0 {
		if s.ordered && s.slow() {
			c.fillAside(s)
		} else {
			s.fill()
		}
	}
	return flusher
}

func (s *slot) slow() bool {
	r, ok := s.render.(commands.SlowRender)
	return ok && r.Slow(s.results)
}

// fillAside is fill by a goroutine of its own: who brought the answer has others to serve.
// Nobody is left to tell of it where the connection has been cut off.
func (c *conn) fillAside(s *slot) {
	c.mu.Lock()
	gone := c.phase == cutOff
	if !gone {
		c.srv.running.Go(func() { // the connection is one of those that run yet
			defer c.recover()
			s.fill()
			c.flush()
		})
	}
	c.mu.Unlock()
	if gone {
		s.forgo()
	}
}

// forgo is instead of fill, where that is slow and nobody is left to be told, or not all was put.
func (s *slot) forgo() {
	defer s.settled()
	if s.turn != nil {
		s.turn.give(1)
	}
	if r, ok := s.render.(commands.Forgoer); ok {
		r.Forgo()
	}
}

// Flush is the engine's, after Answer.
func (c *conn) Flush() {
	defer c.recover()
	c.flush()
}
