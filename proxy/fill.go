package proxy

import (
	"redlock-proxy/commands"
	"redlock-proxy/commands/acl"
	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

// fill makes the reply of the results, or asks on. A client that is gone does
// not stop that: what it asked for is carried out to the end.
func (s *slot) fill() {
	if s.waitsOn() {
		return
	}
	c, turn := s.conn, s.turn
	if len(s.tracks) > 0 {
		s.hear()
	}
	defer func() {
		if turn != nil {
			turn.give(1)
		}
	}()
	decided := c.srv.clock()
	now := decided
	reply, next := s.render.Render(s.results)
	if s.ordered { // to render it may have been to ask other proxies
		now = c.srv.clock()
	}
	if s.waiter != nil && s.waited() {
		reply = commands.Unblocked
	}
	if s.popper != nil {
		s.unblocked(&reply)
	}
	if s.waiter == nil || !meetsHolder(&s.results[0]) { // else that was noted
		c.note(s, &reply, decided)
	}
	s.freed()
	s.noteDecided(decided)
	if len(next.Requests) > 0 {
		turn = nil
		s.told(false)
		s.askOn(next)
		return
	}
	if next.Forbidden != (acl.Denial{}) {
		c.deniedLate(s, next, &reply)
	}
	if s.asks[0].request.Kind == quorum.Run {
		c.judge(s, &s.results[0])
	}
	c.carriedOut(s.command, now-s.begun, s.raw, &reply)
	s.audit(&reply)
	s.raw = nil
	var encoded []byte
	var long *resp.Long
	if !s.muted {
		if long = resp.NewLong(&reply, s.proto); long == nil {
			encoded = resp.Append(s.single.reply[:0], &reply, s.proto)
		}
		s.won = s.results[0].Decision == quorum.Won && (s.asks[0].request.Kind == quorum.Acquire || s.block != nil)
	}
	if s.block != nil {
		s.taken = c.srv.returns.taken.Add(1)
	}
	if s.won && s.block != nil && hungUp(c.nc) { // which nobody has read, if there is more to be read before it
		c.endInput()
	}
	s.told(s.won)
	c.answer(s, decided, encoded, long)
}

// told says of the locks that were won that nobody will take them back, but for the first
// one if that is a promise.
func (s *slot) told(promise bool) {
	for i := range s.results {
		if i > 0 || !promise {
			s.results[i].Lock.Told()
		}
	}
}

// askOn puts the requests that follow from the results, all at once: their
// keys are the slot's, which keep later commands waiting as it is.
func (s *slot) askOn(next commands.Action) {
	db, requests := s.asks[0].request.DB, next.Requests
	if len(requests) == 1 {
		requests = s.single.request[:copy(s.single.request[:], requests)]
	}
	next.Command = s.command
	s.mayWait = s.turn == nil && s.conn.mayWait(&next) // an acquire for which it was looked first whether it may be
	s.expect(requests, next.Render)
	s.sample(s.conn.srv.clock())
	asks := s.asks
	for i := range requests { // the last Put may be the end of s
		if !next.Anywhere {
			requests[i].DB = db
		}
		s.conn.srv.engine.Put(&requests[i], &asks[i])
	}
}
