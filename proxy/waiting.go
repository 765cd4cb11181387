package proxy

import (
	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// A connection has one acquire at most that waits in a line (room.go), and nothing behind it: replies come in the
// order of commands, so whatever a client sends meanwhile, its release of what it holds among it, would be answered
// when the wait is over. Whoever sends more does not wait: it is answered at once. So it is with clients that share a
// connection among many. Who listens does not wait either: messages would be told when the wait is over.

// mayWait tells of a command that it may wait in a line: it is an acquire, be it in the words of a script, and no transaction.
func (c *conn) mayWait(a *commands.Action) bool {
	if c.srv.room.most == 0 || len(a.Requests) != 1 || a.Muted || a.Continues || c.listens() {
		return false
	}
	r := &a.Requests[0]
	return r.Kind == quorum.Acquire && !r.TellsValue && a.Command.Name != "exec"
}

// stays tells that a slot that was answered waits in a line, or has been put to the masters anew.
func (s *slot) stays() bool {
	c := s.conn
	now := c.srv.clock()
	if s.waiter != nil {
		return c.srv.room.tried(s.waiter, &s.results[0], now)
	}
	if !meetsHolder(&s.results[0]) {
		return false
	}
	c.mu.Lock()
	var w *waiter
	var t todo
	nth := s.nth // when it is in a line, the slot may soon be another's
	if c.phase == serving && c.commands.Load() == nth {
		c.note(s, &commands.Reply{}, now)
		w, t = c.srv.room.enter(s, now, false)
	}
	c.mu.Unlock()
	t.do()
	// The reader counts a command before it looks who waits, and here it is the other way round: one sees the other,
	// whatever the reader waits for meanwhile.
	if w != nil && c.commands.Load() != nth {
		w.moveOn(c)
	}
	return w != nil
}

// join puts a slot that is not put yet into the line that there is for its key. mu is held.
func (c *conn) join(s *slot) (joined bool, t todo) {
	if c.srv.room.count.Load() == 0 {
		return false, t
	}
	n := noting{srv: c.srv, command: s.command, by: s.origin, begun: s.begun, now: s.put}
	r := s.single.request[0] // when it is in the line, others are at the slot
	s.rest.Store(true)
	w, t := c.srv.room.enter(s, s.put, true)
	if w == nil {
		s.rest.Store(false)
		return false, t
	}
	n.note(&r, &quorum.Result{Decision: quorum.Contended}, &commands.Reply{})
	return true, t
}

// tryAgain puts the acquire of a waiter to the masters.
func (s *slot) tryAgain() {
	now := s.conn.srv.clock()
	s.expect(s.single.request[:], s.render)
	s.put, s.begun = now, now
	s.asks[0].request.Trace = nil // an attempt is one of those that are traced, or is not
	s.sample(now)
	s.conn.srv.engine.Put(s.asks[0].request, &s.asks[0])
}

// refuse answers a waiter that somebody else has the lock.
func (s *slot) refuse() {
	c := s.conn
	defer c.recover()
	s.results[0] = quorum.Result{Decision: quorum.Contended}
	s.put = c.srv.clock()
	s.begun = s.put
	s.fill()
	c.flush()
}

// waited notes that a waiter has its answer, and tells whether it is to be an error for that somebody has ended the wait.
func (s *slot) waited() (unblocked bool) {
	s.conn.waiter.CompareAndSwap(s.waiter, nil)
	if s.results[0].Decision == quorum.Won {
		s.conn.srv.room.granted.Add(1)
		return false
	}
	s.conn.srv.room.refused.Add(1)
	return s.waiter.unblocked && meetsHolder(&s.results[0])
}

// moveOn has the acquire that waits be answered.
func (c *conn) moveOn() {
	if w := c.waiter.Load(); w != nil {
		w.moveOn(c)
	}
}

func (w *waiter) moveOn(c *conn) {
	t := c.srv.room.withdraw(w, false)
	t.do()
}

// freed wakes those who wait for what a slot may have freed.
func (s *slot) freed() {
	srv := s.conn.srv
	if srv.room.count.Load() > 0 {
		for i := range s.asks {
			srv.room.freedBy(s.asks[i].request, &s.results[i], srv.clock())
		}
	}
	if srv.tracking.clients.Load() > 0 {
		for i := range s.asks {
			srv.tracking.changedBy(srv, s.asks[i].request, &s.results[i])
		}
	}
	if srv.blocked.count.Load() > 0 {
		taken := 0 // what is taken from is the line's own to know
		if s.block != nil {
			taken = len(s.block.Keys)
		}
		for i := range s.asks {
			srv.blocked.stirredBy(srv, s.asks[i].request, &s.results[i], taken)
		}
	}
}

// unblock ends the wait of a connection's acquire, or of what is blocked there, if one is.
func (s *Server) unblock(e commands.ClientUnblockEffect) int64 {
	c := s.conn(e.ID)
	if c == nil {
		return 0
	}
	if p := c.popper.Load(); p != nil && s.blocked.end(p, e.Error) {
		return 1
	}
	w := c.waiter.Load()
	if w == nil {
		return 0
	}
	r := &s.room
	r.mu.Lock()
	waits := w.line != nil
	w.unblocked = w.unblocked || waits && e.Error
	r.mu.Unlock()
	if !waits {
		return 0
	}
	t := r.withdraw(w, false)
	t.do()
	return 1
}
