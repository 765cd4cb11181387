package proxy

import (
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// Scripts that fail have often taken all the steps that they may: a master is busy for a
// while with each, and whoever has a request in the same batch waits for all of them. So
// clients whose scripts have failed have them carried out one after the other, among all
// clients of that kind: one at a time is in the masters' batches.

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
	// probation is how many scripts that do not fail show that a client's are no burden.
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

// judge notes whether a script of the client's has failed.
func (c *conn) judge(failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed {
		c.onProbation = probation
	} else {
		c.onProbation = max(c.onProbation-1, 0)
	}
}
