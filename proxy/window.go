package proxy

import "time"

// How many requests of one client may be undecided at once is found out by how long they
// take: whoever sends thousands without pause would otherwise have the masters' batches
// filled with his own, and everybody else wait behind them, where fewer on their way come
// to as many in a second. So a client has ever more on its way as long as they take about as long
// as one alone would, and fewer when they wait for each other, as a sender of TCP Vegas
// does.

// window is how many that is.
type window struct {
	size  int
	least [2]time.Duration // that one took lately: in this period, and in the one before
	until time.Duration    // the end of the period, by the server's clock
	quick int              // decisions that were quick since it was last made larger
	spare int              // decisions until it may be made smaller again
}

const (
	firstWindow = 64
	// leastWindow is more than most clients send at once.
	leastWindow = 32

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

// awaitRoom waits until n requests more may be on their way, and until the client has
// read what it is owed. When the window is full it waits until half of it is free, so that
// it does not wake for each. mu is held.
func (c *conn) awaitRoom(n int) {
	limit := c.srv.cfg.Limits.MaxInFlight
	for c.phase != cutOff && (c.owesMuch() || c.inFlight > 0 && c.inFlight+n > limit) {
		c.waitFlushed()
	}
	if c.inFlight+n <= c.window.size {
		return
	}
	for c.phase != cutOff && (c.owesMuch() || c.inFlight > 0 && c.inFlight+n > c.window.size/2) {
		c.wakesAt = max(c.window.size/2-n, 0)
		c.waitFlushed()
	}
	c.wakesAt = anyNumber
}
