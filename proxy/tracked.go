package proxy

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

// tracked is the part of a slot that is about what its client is told of.
type tracked struct {
	tracks []string // keys that are read
	said   said     // by whom what the reply is made of was
	bcast  bool     // he is told of all keys

	mine []string    // keys that the command may change, of a client who is not to be told of that
	kept []string    // those that he was not told of for that; the connection's mu guards it
	rest atomic.Bool // it waits, and has changed nothing yet
}

// track begins to tell a client when keys change.
func (c *conn) track(a *commands.Action, e commands.TrackingEffect) {
	c.flush() // what it is owed does not wait
	ctx, cancel := context.WithTimeout(context.Background(), lookSpan)
	defer cancel()
	a.Reply = c.session.Tracks(e, c.srv.engine.Tells(ctx))
	if e.Bcast && a.Reply.Kind != commands.ErrorReply {
		c.srv.tracking.follow(c.id, c.session.Prefixes())
		c.srv.cast()
	}
}

// countTracking is called where the session has changed; old is nil of a new one.
func (c *conn) countTracking(old, now *commands.Snapshot) {
	switch was := old != nil && old.Tracking.On; {
	case !was && now.Tracking.On:
		c.srv.tracking.clients.Add(1)
	case was && !now.Tracking.On:
		c.trackNoMore()
	}
}

// trackNoMore is of a client that has tracked.
func (c *conn) trackNoMore() {
	c.srv.tracking.unfollow(c.id)
	c.srv.cast()
	c.srv.tracking.leave()
}

// redirection is what CLIENT LIST tells of whom is told.
func redirection(t *commands.Tracking) int64 {
	if !t.On {
		return -1
	}
	return t.Redirect
}

// trackFor prepares a slot for what its client is told of.
func (s *slot) trackFor(a *commands.Action) {
	t := &s.conn.snapshot.Load().Tracking
	if s.tracks = a.Tracks; len(s.tracks) > 0 {
		s.said.alike, s.bcast = ^uint16(0), t.Bcast
	}
	if t.On && t.NoLoop && changes(a) {
		for i := range a.Requests {
			s.mine = append(s.mine, a.Requests[i].Key)
			s.mine = append(s.mine, a.Requests[i].Keys...)
		}
	}
}

// said is which masters have said what.
type said struct {
	alike  uint16            // all of it
	each   map[string]uint16 // what is about a key, where several were asked for by themselves
	needed int               // how many of them have to tell
}

// about is who has said what is about a key.
func (s *said) about(key string) uint16 {
	if alike, by := s.each[key]; by {
		return alike
	}
	return s.alike
}

// hear takes in who has said what the reply is made of.
func (s *slot) hear() {
	t := &s.said
	before := t.alike
	if t.each == nil && len(s.results) > 1 {
		t.each = make(map[string]uint16, len(s.results))
	}
	for i := range s.results {
		r, q := &s.results[i], s.asks[i].request
		t.alike &= r.Alike
		t.needed = max(t.needed, r.Needed, 1)
		if t.each == nil {
			continue
		}
		for _, key := range slices.Concat(q.Keys, []string{q.Key}) {
			alike, by := t.each[key]
			if !by {
				alike = before
			}
			t.each[key] = alike & r.Alike
		}
	}
}

// isTracked notes what the client is told of, and returns the keys of which he is to be told at once. One who has
// extended his lock is told when it is seen that it is not his.
func (s *slot) isTracked() (stale []string) {
	c := s.conn
	if s.bcast {
		return c.srv.tracking.uncovered(s.tracks, &s.said, s.begun)
	}
	stale = c.srv.tracking.answered(c.srv, c.id, s.tracks, &s.said, s.begun)
	if q := s.asks[0].request; q.Kind == quorum.Extend && s.results[0].Decision == quorum.Won && len(stale) > 0 {
		c.srv.tracking.check(c.srv, c.id, q)
		return nil
	}
	return stale
}

// waitsOn tells that a slot that was answered waits, or has been put anew. Meanwhile its client is told of what others
// change, however long that takes.
func (s *slot) waitsOn() bool {
	if !s.mayWait && s.block == nil {
		return false
	}
	if c, r := s.conn, &s.results[0]; r.Decision != quorum.Won || s.block != nil && !s.block.Found(r) {
		s.rest.Store(true)
		c.mu.Lock()
		kept := s.kept
		s.kept = nil
		c.mu.Unlock()
		c.tellKept(kept)
	}
	return s.mayWait && s.stays() || s.block != nil && s.blocks()
}

// changing tells that a command of the connection is about to change a key, and then is to be told if it has not. It is
// not so where the key is read behind it: that may have been answered before. mu is not held.
func (c *conn) changing(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var changes *slot
	for s := c.owed.head; s != nil; s = s.next {
		switch {
		case changes != nil && slices.Contains(s.tracks, key):
			return false
		case !s.full && !s.rest.Load() && slices.Contains(s.mine, key):
			changes = s
		}
	}
	if changes != nil {
		changes.kept = append(changes.kept, key)
	}
	return changes != nil
}

// notice is that a client is told of a key, or of all.
type notice struct {
	id  int64
	key string
	all bool
}

func (s *Server) tellAll(all []notice) {
	for _, n := range all {
		s.tell(n)
	}
}

// tell has a client be told, or the one that he has named.
func (s *Server) tell(n notice) {
	c := s.conn(n.id)
	if c == nil {
		return
	}
	t := &c.snapshot.Load().Tracking
	if !t.On || t.NoLoop && !n.all && c.changing(n.key) {
		return
	}
	c.invalidate(t, n)
}

// invalidate is tell of what the client has not changed himself.
func (c *conn) invalidate(t *commands.Tracking, n notice) {
	to := c
	if t.Redirect != 0 && t.Redirect != c.id {
		if to = c.srv.conn(t.Redirect); to == nil {
			if proto := c.snapshot.Load().Proto; proto == 3 {
				c.notify(commands.RedirectionBroken(t.Redirect), proto)
			}
			return
		}
	}
	session := to.snapshot.Load()
	if session.Proto == 2 && (t.Redirect == 0 || !session.Subscribed()) {
		return
	}
	key := &n.key
	if n.all {
		key = nil
	}
	to.notify(commands.Invalidation(session.Proto, key), session.Proto)
}

// notify sends a client what he has not asked for, behind all that he is owed, but for what waits: that reads nothing
// which he keeps, and may wait for ever.
func (c *conn) notify(r commands.Reply, proto int) {
	encoded := resp.Append(nil, &r, proto)
	if !c.mayHave(encoded) {
		return
	}
	c.mu.Lock()
	last := c.owed.tail
	if last != nil && last.rest.Load() {
		last = c.owed.before(last)
	}
	sent := c.appendTo(last, encoded)
	c.mu.Unlock()
	if sent {
		c.flushDelivered()
	}
}

// answer completes a slot, and tells its client of the keys of which nobody would tell him, and of those that he has not
// changed after all.
func (c *conn) answer(s *slot, decided time.Duration, encoded []byte, long *resp.Long) {
	var stale []string
	if len(s.tracks) > 0 {
		stale = s.isTracked()
	}
	var changed map[string]bool
	if len(s.mine) > 0 {
		changed = s.changed()
	}
	for _, key := range c.complete(s, decided, encoded, long) {
		if !changed[key] {
			stale = append(stale, key)
		}
	}
	c.tellKept(stale)
}

// changed are the keys that a command is known to have changed.
func (s *slot) changed() map[string]bool {
	keys := make(map[string]bool)
	for i := range s.results {
		r, q := &s.results[i], s.asks[i].request
		if r.Decision != quorum.Won {
			continue
		}
		if keys[q.Key] = true; q.Kind == quorum.Run {
			for _, key := range q.Keys {
				keys[key] = true
			}
		}
		for _, key := range r.Spared {
			delete(keys, key)
		}
	}
	return keys
}

// tellKept tells a client of keys, whoever has changed them.
func (c *conn) tellKept(keys []string) {
	if t := &c.snapshot.Load().Tracking; t.On {
		for _, key := range keys {
			c.invalidate(t, notice{id: c.id, key: key})
		}
	}
}
