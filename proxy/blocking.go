package proxy

import (
	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// Of a connection one command at most is blocked, and what its client sends behind that is carried out when it is
// answered, as on Redis: see behind.go.

// blocking is a command that may be blocked.
type blocking struct {
	block  *commands.Block
	popper *popper // nil: it has not waited
	again  bool    // it was put again, for one key
	taken  uint64  // see returns
}

// blocks tells that a slot that was answered waits.
func (s *slot) blocks() bool {
	c := s.conn
	r := &c.srv.blocked
	if s.popper != nil {
		return r.tried(s.popper, &s.results[0], c.srv.clock())
	}
	if !s.block.Nothing(&s.results[0]) {
		return false
	}
	if s.turn != nil {
		s.turn.give(1)
		s.turn = nil
	}
	c.mu.Lock()
	var t popTodo
	waits := c.phase == serving
	if waits {
		waits, t = r.enter(s, c.srv.clock())
		c.wake()
	}
	c.mu.Unlock()
	t.do()
	return waits
}

// askAgain asks for what there is under the key of a line.
func (s *slot) askAgain() {
	now := s.conn.srv.clock()
	db := s.asks[0].request.DB
	request, render := s.block.Again(s.popper.asks.at.key)
	request.DB = db
	s.single.request[0] = request
	s.expect(s.single.request[:], render)
	s.again, s.put, s.begun = true, now, now
	s.sample(now)
	s.conn.srv.engine.Put(s.asks[0].request, &s.asks[0])
}

// blockOver answers who has waited for nothing.
func (s *slot) blockOver() {
	c := s.conn
	defer c.recover()
	s.results[0] = quorum.Result{Decision: quorum.Contended, Script: &quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.NilReply}}}
	s.render = commands.Answer{Reply: commands.BlockOver}
	s.put = c.srv.clock()
	s.begun = s.put
	s.fill()
	c.flush()
}

// unblocked notes that a client who has waited has his answer, and makes it an error if somebody has ended the wait.
func (s *slot) unblocked(reply *commands.Reply) {
	s.conn.popper.CompareAndSwap(s.popper, nil)
	if s.popper.failed && s.block.Nothing(&s.results[0]) {
		*reply = commands.Unblocked
	}
}

// endBlock has the connection's blocked command be answered.
func (c *conn) endBlock() {
	if p := c.popper.Load(); p != nil {
		c.srv.blocked.end(p, false)
	}
}

// settled notes that it is known whose the elements are that a command may have taken: see Server.AwaitPutBack.
func (s *slot) settled() {
	if s.block != nil {
		s.conn.srv.taking.Done()
	}
}
