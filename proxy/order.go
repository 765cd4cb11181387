package proxy

import (
	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// About one key, a client's commands are carried out in their order: see undecided.go. Those
// about different keys go their own ways, and what is tried again comes behind what was asked
// for later. Two kinds wait all the same, whatever their keys are.
//
// What changes a key comes behind what lists all keys. That takes several steps, and the later
// ones would tell of the change.
//
// A flush comes behind all, and all behind it: it may be about every database, each of which has
// its own way to the masters.

// across is what a slot is to others of its connection, whatever their keys are. The
// connection's mu guards it.
type across struct {
	lists   bool // all keys, step by step
	flushes bool
}

// acrossOf a command, whose requests are of one kind.
func acrossOf(a *commands.Action) across {
	r := &a.Requests[0]
	return across{lists: a.Continues && r.Kind == quorum.Survey, flushes: r.Flushes()}
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

// awaitOthers waits until nothing is undecided that a command must not pass. mu is held.
func (c *conn) awaitOthers(a *commands.Action) (waited bool) {
	for ; c.phase != cutOff && c.mustWait(a); waited = true {
		c.waitFlushed()
	}
	return waited
}

func (c *conn) mustWait(a *commands.Action) bool {
	if c.owed.head == nil {
		return false
	}
	return c.flushes > 0 || c.lists > 0 && changes(a) || a.Requests[0].Flushes()
}

// stand gives a slot its place among the others, and pass takes it away once it is decided. mu is
// held.
func (c *conn) stand(s *slot) { c.count(s, 1) }
func (c *conn) pass(s *slot)  { c.count(s, -1) }

func (c *conn) count(s *slot, n int) {
	if s.lists {
		c.lists += n
	}
	if s.flushes {
		c.flushes += n
	}
}
