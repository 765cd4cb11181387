package proxy

import (
	"sync/atomic"
	"time"
)

// How many requests of one client may be undecided at once is found out by how long they
// take: whoever sends thousands without pause would otherwise have the masters' batches
// filled with his own, and everybody else wait behind them, where fewer on their way come
// to as many in a second. So a client has ever more on its way as long as they take about as long
// as one alone would, and fewer when they wait for each other, as a sender of TCP Vegas
// does. Where somebody who waits for each of his requests waits longer for that, whoever sends
// many has as few on their way as come to something, until nobody does.

// window is how many that is.
type window struct {
	size  int
	least [2]time.Duration // that one took lately: in this period, and in the one before
	until time.Duration    // the end of the period, by the server's clock
	quick int              // decisions that were quick since it was last made larger
	spare int              // decisions until it may be made smaller again
	many  time.Duration    // when there were last several on their way, by the server's clock
}

const (
	firstWindow = 64
	// leastWindow is more than most clients send at once.
	leastWindow = 32

	// narrowWindow is for who sends many while others wait, see squeeze, or as many more as there
	// are narrowTimes on the way to masters that are far and back.
	narrowWindow = 8
	narrowTime   = 40 * time.Microsecond

	// squeezed is for how long it is so. They grow within milliseconds when it is over, and that
	// is to be seen once in a hundred requests of those who wait, at most.
	squeezed = 2 * time.Second

	// slack is how much longer a request may take behind others of its client than by
	// itself; of masters that are far a quarter of the way is added, since ways differ.
	slack = 750 * time.Microsecond

	// windowPeriod is after how long it is found out anew how long one request takes.
	windowPeriod = 10 * time.Second
)

// decided notes that a request took so long, while so many were on their way.
func (w *window) decided(now, took time.Duration, inFlight int) {
	if now >= w.until {
		w.least = [2]time.Duration{took, w.least[0]}
		w.until = now + windowPeriod
		if w.least[1] == 0 {
			w.least[1] = took
		}
	}
	w.least[0] = min(w.least[0], took)
	w.spare = max(w.spare-1, 0)
	least := min(w.least[0], w.least[1])
	switch {
	case took <= least+least/4+slack:
		// Who does not use what he has learns nothing from being quick.
		if w.quick++; w.quick >= 8 && 2*inFlight >= w.size {
			w.size, w.quick = w.size+1, 0
		}
	case w.spare == 0: // what is on its way by now was sent into the larger one
		w.size = max(w.size-w.size/4, leastWindow)
		w.spare, w.quick = w.size, 0
	}
}

// squeeze tells those who send many that others wait.
type squeeze struct {
	until atomic.Int64 // by the server's clock
	_     [56]byte     // who waits for nothing but this reads it all the time
}

// waited notes how long somebody's request took, 0 where that tells nothing of others, and how many
// of his are on their way. Who waits for each is held up if it took twice as long as one does, and
// more; that is no sender of many whose last few are decided, or who is held up for others.
func (s *squeeze) waited(w *window, now, took time.Duration, inFlight int) {
	if inFlight > narrowWindow/2 {
		w.many = now
		return
	}
	if took > 2*min(w.least[0], w.least[1])+slack && (w.many == 0 || now-w.many > windowPeriod) {
		s.until.Store(int64(now + squeezed))
	}
}

// room is how many of somebody's requests may be on their way.
func (s *squeeze) room(w *window, now time.Duration) int {
	if int64(now) >= s.until.Load() {
		return w.size
	}
	return min(w.size, max(narrowWindow, int(min(w.least[0], w.least[1])/narrowTime)))
}

// awaitRoom waits until n requests more may be on their way, and until the client has
// read what it is owed. When the window is full it waits until half of it is free, so that
// it does not wake for each. mu is held.
func (c *conn) awaitRoom(now time.Duration, n int) {
	limit := c.srv.cfg.Limits.MaxInFlight
	for c.phase != cutOff && (c.owesMuch() || c.inFlight > 0 && c.inFlight+n > limit) {
		c.waitFlushed()
	}
	room := c.srv.squeeze.room(&c.window, now)
	if c.inFlight+n <= room {
		return
	}
	for c.phase != cutOff && (c.owesMuch() || c.inFlight > 0 && c.inFlight+n > room/2) {
		c.wakesAt = max(room/2-n, 0)
		c.waitFlushed()
	}
	c.wakesAt = anyNumber
}
