package proxy

import (
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// What weighs on the masters is put to them a little at a time, of all clients together, in the
// order in which it came.
//
// What is long: masters' queues have room for so much and no more, and what finds none there is
// refused. Who is refused asks again at once, and the more often the less is carried out; who
// waits does not. What is short never waits here, nor does what nothing is known of.
//
// Scripts that toil: see probation.go.

// crowd lets requests through as long as they come to no more than most.
type crowd struct {
	most int // bytes, or scripts

	mu    sync.Mutex // guards what follows
	used  int
	line  []*crowdWaiter
	moved time.Time // when the last of them gave back what it took
}

// crowds are those of a server.
type crowds struct {
	longs   crowd // what is long of all clients
	toilers crowd // scripts on probation
	strange crowd // and those of which nothing is known
}

// crowdWaiter is one in the line.
type crowdWaiter struct {
	conn   *conn
	n      int
	script *quorum.Script // what waits, if that is one
	heft   uint8          // see conduct.go
	mayGo  bool
}

const (
	// crowdPart of the clients' memory is for what is undecided: with up to seven masters that
	// is less than what there is room for in the queue of each.
	crowdPart = 16
	// leastCrowd has room for what two clients may ask for at once, and mostCrowd for what keeps masters
	// busy in any case.
	leastCrowd = 2 * DefaultMaxAsked
	mostCrowd  = 32 << 20
	// longestInCrowd is how long one waits at most: where masters do not answer, none goes.
	longestInCrowd = time.Second
)

func crowdOf(memory int64) int { return int(min(max(memory/crowdPart, leastCrowd), mostCrowd)) }

// fits is called with mu held. What is longer than all goes alone.
func (r *crowd) fits(n int) bool { return r.used == 0 || r.used+n <= r.most }

// enter takes n, or has somebody stand in the line. It tells whether he may go.
func (r *crowd) enter(w *crowdWaiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.mayGo = len(r.line) == 0 && r.fits(w.n); w.mayGo {
		r.used += w.n
	} else {
		r.line = append(r.line, w)
	}
	return w.mayGo
}

func (r *crowd) mayGo(w *crowdWaiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.mayGo
}

// leave has somebody stand in the line no longer, who goes in any case.
func (r *crowd) leave(w *crowdWaiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !w.mayGo {
		r.line = slices.DeleteFunc(r.line, func(other *crowdWaiter) bool { return other == w })
		r.used += w.n
	}
}

// give gives n back, and lets those through for whom there is room by that. Nobody may
// hold a connection's mutex who calls it.
func (r *crowd) give(n int) {
	var ready []*crowdWaiter
	r.mu.Lock()
	r.used -= n
	r.moved = time.Now()
	for len(r.line) > 0 && r.fits(r.line[0].n) {
		ready = append(ready, r.line[0])
		r.passes(r.line[0])
		r.line = r.line[1:]
	}
	r.mu.Unlock()
	wakeAll(ready)
}

// letPass lets those through, as give does, who wait with a script that need not any more, given
// so much at most.
func (r *crowd) letPass(script *quorum.Script, heft uint8) {
	var ready []*crowdWaiter
	r.mu.Lock()
	r.line = slices.DeleteFunc(r.line, func(w *crowdWaiter) bool {
		if w.script != script || w.heft > heft {
			return false
		}
		ready = append(ready, w)
		r.passes(w)
		return true
	})
	r.mu.Unlock()
	wakeAll(ready)
}

// passes is called with mu held.
func (r *crowd) passes(w *crowdWaiter) {
	r.used += w.n
	w.mayGo = true
}

func wakeAll(ready []*crowdWaiter) {
	for _, w := range ready {
		w.conn.mu.Lock()
		w.conn.wake()
		w.conn.mu.Unlock()
	}
}

// await waits until there is room in a crowd, or for so long at most, and where the crowd has not
// moved for a while, no longer than that. What is taken is to be given back in any case. mu is held.
func (c *conn) await(r *crowd, w *crowdWaiter, still, longest time.Duration) {
	w.conn = c
	if r.enter(w) {
		return
	}
	over := false
	began := time.Now()
	var timer *time.Timer
	timer = time.AfterFunc(min(still, longest), func() {
		left := min(still-r.stoodStill(began), longest-time.Since(began))
		c.mu.Lock()
		defer c.mu.Unlock()
		if !over && left > 0 {
			timer.Reset(left)
			return
		}
		over = true
		c.wake()
	})
	for c.phase != cutOff && !over && !r.mayGo(w) {
		c.waitFlushed()
	}
	over = true
	timer.Stop()
	r.leave(w)
}

// stoodStill is for how long it has not moved since a time.
func (r *crowd) stoodStill(since time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.moved.After(since) {
		since = r.moved
	}
	return time.Since(since)
}
