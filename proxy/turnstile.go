package proxy

import (
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// A master is busy for a while with a script that takes many steps, and whoever has a request
// in the same batch waits for all such in it. So a script that has, and those of a client that
// had one, are carried out one after the other, among all of that kind: one at a time is in
// the masters' batches.

// turnstile lets one through at a time, in the order in which they came.
type turnstile struct {
	mu    sync.Mutex // guards what follows
	taken bool
	line  []*turnWaiter
}

// turnWaiter is one in the line.
type turnWaiter struct {
	conn  *conn
	mayGo bool
}

const (
	// probation is how many calls that do not toil show that a client's, or a script's, are no
	// burden.
	probation = 16
	// longestTurn is how long one waits at most for those before: where masters do not answer,
	// theirs takes much longer than a script does.
	longestTurn = 250 * time.Millisecond
)

// enter takes the turn, or has somebody stand in the line.
func (t *turnstile) enter(c *conn) *turnWaiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &turnWaiter{conn: c, mayGo: !t.taken}
	if t.taken {
		t.line = append(t.line, w)
	}
	t.taken = true
	return w
}

func (t *turnstile) mayGo(w *turnWaiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return w.mayGo
}

// leave has somebody stand in the line no longer. It tells whether he has the turn.
func (t *turnstile) leave(w *turnWaiter) (has bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line = slices.DeleteFunc(t.line, func(other *turnWaiter) bool { return other == w })
	return w.mayGo
}

// pass gives the turn to the next one. Nobody may hold a connection's mutex who calls it.
func (t *turnstile) pass() {
	t.mu.Lock()
	if t.taken = len(t.line) > 0; !t.taken {
		t.mu.Unlock()
		return
	}
	next := t.line[0]
	t.line = t.line[1:]
	next.mayGo = true
	t.mu.Unlock()
	next.conn.mu.Lock()
	defer next.conn.mu.Unlock()
	next.conn.wake()
}

// awaitTurn waits until the client may have a script carried out. It tells whether the turn
// is to be passed on when that is done. mu is held.
func (c *conn) awaitTurn() (has bool) {
	t := &c.srv.scripts
	w := t.enter(c)
	if w.mayGo {
		return true
	}
	over := false
	timer := time.AfterFunc(longestTurn, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		over = true
		c.wake()
	})
	defer timer.Stop()
	for c.phase != cutOff && !over && !t.mayGo(w) {
		c.waitFlushed()
	}
	return t.leave(w)
}

// ofClient tells whether a request is to run a script of the client's own.
func ofClient(r *quorum.Request) bool { return r.Kind == quorum.Run && r.Script.OfClient() }

// onProbation tells whether a request is to run a script that waits for its turn. mu is held.
func (c *conn) onProbation(r *quorum.Request) bool {
	return ofClient(r) && (c.probation > 0 || r.Script.Probation.Load() > 0)
}

// judge notes whether a script of the client's has toiled.
func (c *conn) judge(script *quorum.Script, toiled bool) {
	if toiled {
		c.srv.stats.toiling.Add(1)
		script.Probation.Store(probation)
	} else if left := script.Probation.Load(); left > 0 {
		script.Probation.CompareAndSwap(left, left-1) // who judges at the same time counts for both
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if toiled {
		c.probation = probation
	} else {
		c.probation = max(c.probation-1, 0)
	}
}
