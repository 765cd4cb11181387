package proxy

import (
	"slices"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// About one key, a client's commands are carried out in their order: see undecided.go. Those
// about different keys go their own ways, and what is tried again comes behind what was asked
// for later. Three kinds wait all the same, whatever their keys are.
//
// What frees a lock comes behind what its client has written, or who has the lock next may
// not find that:
//
//	1: A holds lock, and sends HINCRBY h n 1 and DEL lock at once
//	2: h is latched by another proxy, so that HINCRBY is to be tried again
//	3: DEL is carried out; B is granted lock, and reads h without what A has counted
//
// So it has its place in the line and is put when those writes are decided; what comes behind it
// on other keys goes before. Many clients in one send all they ask over one connection: their
// locks are not to wait for each other's.
//
// What changes a key comes behind what lists all keys. That takes several steps, and the later
// ones would tell of the change.
//
// A flush comes behind all, and all behind it: it may be about every database, each of which has
// its own way to the masters.

// across is what a slot is to others of its connection, whatever their keys are. The
// connection's mu guards it.
type across struct {
	writes  bool // what a lock may guard
	lists   bool // all keys, step by step
	flushes bool

	number  uint64 // of the slots of its connection
	behind  int    // undecided writes before it, if it frees a lock
	entered int    // requests that are put once there are none
}

// acrossOf a command, whose requests are of one kind. What continues is taken for a write, as it
// may come to one. A client's script that frees a lock is not: of many that free theirs, each
// would wait for the one before.
func acrossOf(a *commands.Action) across {
	r := &a.Requests[0]
	switch r.Kind {
	case quorum.Write:
		return across{writes: true}
	case quorum.Run:
		return across{writes: a.Continues || !r.Script.Reads && !(a.Frees && r.Script.OfClient() && !r.Script.Latches)}
	case quorum.Read:
		return across{writes: a.Continues}
	case quorum.Survey:
		return across{lists: a.Continues, flushes: r.Flushes()}
	}
	return across{}
}

// frees tells that a command may free a lock.
func frees(a *commands.Action) bool {
	kind := a.Requests[0].Kind
	return a.Frees || kind == quorum.Release || kind == quorum.Remove
}

// changes tells that a command may change a key.
func changes(a *commands.Action) bool {
	r := &a.Requests[0]
	switch r.Kind {
	case quorum.Survey:
		return false
	case quorum.Read:
		return a.Continues
	case quorum.Run:
		return a.Continues || !r.Script.Reads
	}
	return true
}

// awaitOthers waits until nothing is undecided that a command must neither pass nor be barred
// behind. mu is held.
func (c *conn) awaitOthers(a *commands.Action) {
	for c.phase != cutOff && c.mustWait(a) {
		c.waitFlushed()
	}
}

func (c *conn) mustWait(a *commands.Action) bool {
	if c.owed.head == nil {
		return false
	}
	return c.flushes > 0 || c.lists > 0 && changes(a) || a.Requests[0].Flushes()
}

// stand gives a slot its place among the others. mu is held.
func (c *conn) stand(s *slot, a *commands.Action) {
	c.stood++
	s.number = c.stood
	if c.writes > 0 && frees(a) {
		s.behind = c.writes
		c.barred = append(c.barred, s)
	}
	if s.writes {
		c.writes++
	}
	if s.lists {
		c.lists++
	}
	if s.flushes {
		c.flushes++
	}
}

// bars tells that the next request of a slot is not put yet. mu is held.
func (s *slot) bars() bool {
	if s.behind > 0 {
		s.entered++
	}
	return s.behind > 0
}

// pass takes a decided slot out of the way of the others, and returns what is to be put by that.
// mu is held.
func (c *conn) pass(s *slot) (ready []*ask) {
	if s.lists {
		c.lists--
	}
	if s.flushes {
		c.flushes--
	}
	if !s.writes {
		return nil
	}
	c.writes--
	for _, b := range c.barred {
		if b.number > s.number {
			b.behind--
		}
	}
	return c.ready()
}

// ready takes those out of the barred that are behind nothing. mu is held.
func (c *conn) ready() (ready []*ask) {
	c.barred = slices.DeleteFunc(c.barred, func(s *slot) bool {
		if s.behind > 0 {
			return false
		}
		s.put = c.srv.clock()
		for i := range s.entered {
			ready = append(ready, &s.asks[i])
		}
		return true
	})
	if len(c.barred) == 0 {
		c.barred = nil
	}
	return ready
}

// putAll puts what was barred.
func (c *conn) putAll(ready []*ask) {
	for _, a := range ready {
		c.srv.engine.Put(a.request, a)
	}
}

// unbar puts all that is barred, as what it is behind may not be decided any more.
func (c *conn) unbar() {
	c.mu.Lock()
	for _, s := range c.barred {
		s.behind = 0
	}
	ready := c.ready()
	c.mu.Unlock()
	c.putAll(ready)
}
