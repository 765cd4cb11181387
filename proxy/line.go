package proxy

import (
	"time"

	"redlock-proxy/quorum"
)

const (
	// tellSpan is how often it is looked while masters tell of changes without end, but for some times at once.
	tellSpan = lookSpan / 32

	// settleSpan is after how long masters have told of what an acquire has changed that has stood in the line: then it
	// is looked once whether its lock is still held, and from then on what they tell is heeded.
	settleSpan = 100 * time.Millisecond
)

// line is those who wait for a key.
type line struct {
	srv         *Server
	at          resource
	first, last *waiter
	count       int
	trying      *waiter       // the first, while an attempt of his is under way
	again       bool          // and something has changed meanwhile
	refused     time.Duration // when the latest attempt was put that has met a holder
	ends        time.Duration // when the holder's lock does, as far as is known; 0 if it is not
	next        time.Duration // when it is tried again
	told        bool          // something may have changed: it is to be looked
	heeds       time.Duration // from when on
	looking     bool          // the masters are asked when the lock ends
	outdated    bool          // and something has changed since
	watch       bool          // the next time, they are to tell of changes from then on
	free        bool          // they said the last time that nobody has it
	request     quorum.Request
	timer       *time.Timer
}

// waiter is an acquire in a line.
type waiter struct {
	slot       *slot
	line       *line // nil: it has left, and its slot may be another's
	prev, next *waiter
	unblocked  bool          // by CLIENT UNBLOCK, to be answered with an error
	asked      time.Duration // when it came
	until      time.Duration // when it is refused
}

// insert has a waiter stand where he is to by when he came: who has been refused meets those who came meanwhile, and
// found the line. mu is held.
func (l *line) insert(w *waiter) {
	w.prev = l.last
	for w.prev != nil && w.prev != l.trying && w.prev.asked > w.asked {
		w.prev, w.next = w.prev.prev, w.prev
	}
	if w.prev == nil {
		l.first = w
	} else {
		w.prev.next = w
	}
	if w.next == nil {
		l.last = w
	} else {
		w.next.prev = w
	}
}

// leave takes a waiter out of his line. mu is held.
func (r *room) leave(w *waiter) {
	l := w.line
	if l == nil {
		return
	}
	if w.prev == nil {
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	if l.trying == w {
		l.trying = nil
	}
	w.line, w.prev, w.next = nil, nil, nil
	l.count--
	r.count.Add(-1)
}

// step brings a line to where it is to be now. mu is held.
func (r *room) step(l *line, now time.Duration) (t todo) {
	for w := l.first; w != nil && (w.until <= now || r.closed); {
		over := w
		if w = w.next; over != l.trying { // whose answer is on its way
			t.end(r, l, over)
		}
	}
	if l.told && l.heeds <= now && l.trying == nil {
		l.told, l.ends, l.outdated = false, 0, l.looking
		l.heeds = max(l.heeds, now-lookSpan/4) + tellSpan
	}
	switch {
	case l.first == nil:
		delete(r.lines, l.at)
		if l.timer != nil {
			l.timer.Stop()
		}
		return t
	case l.trying != nil:
	case l.again || l.next <= now:
		l.again, l.trying = false, l.first
		t.tries = append(t.tries, l.first)
	case l.ends == 0 && !l.looking:
		l.looking, t.look, t.watch = true, l, l.watch
		l.watch, l.told = false, false
	}
	wakes := l.first.until
	if l.trying == nil {
		if wakes = min(wakes, l.next); l.told {
			wakes = min(wakes, l.heeds)
		}
	} else if l.first.next != nil {
		wakes = l.first.next.until
	} else {
		return t
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(wakes-now, l.wake)
	} else {
		l.timer.Reset(wakes - now)
	}
	return t
}

// stir has a line be tried, whose key may be free. Who holds it next may do so for less long. mu is held.
func (r *room) stir(l *line, now time.Duration) todo {
	l.again, l.ends, l.outdated, l.free = true, 0, l.looking, false
	return r.step(l, now)
}

// changed has it be looked whether a line's key is free, which has changed on a master, or is not there. mu is held.
func (r *room) changed(l *line, watch bool, now time.Duration) todo {
	l.told, l.watch = true, l.watch || watch
	return r.step(l, now)
}

// end has a waiter leave who is not tried: he is refused if that is known since he asked, and else tried a last time.
func (t *todo) end(r *room, l *line, w *waiter) {
	r.leave(w)
	if l.refused >= w.asked || w.unblocked {
		t.refusals = append(t.refusals, w)
	} else {
		t.tries = append(t.tries, w)
	}
}

// wake is the timer's.
func (l *line) wake() {
	r := &l.srv.room
	r.mu.Lock()
	var t todo
	if r.lines[l.at] == l {
		t = r.step(l, l.srv.clock())
	}
	r.mu.Unlock()
	t.do()
}

// Answer is what the masters hold under the key.
func (l *line) Answer(result quorum.Result) quorum.Flusher {
	r := &l.srv.room
	r.mu.Lock()
	now := l.srv.clock()
	outdated := l.outdated
	l.looking, l.outdated = false, false
	switch free := result.Decision == quorum.Won && !result.Exists; {
	case free && !l.free: // each master tells in its own time: what comes meanwhile is of the same change
		l.again, l.free = true, true
	case outdated:
	case result.Decision != quorum.Won:
		l.ends = quietly
	case free: // and yet it was refused: masters hold different values, of which none counts
		l.ends = quietly
	case result.TTL == quorum.NoTTL:
		l.ends, l.free = quietly, false
	default:
		l.free = false
		l.lasts(result.TTL, now)
	}
	var t todo
	if r.lines[l.at] == l {
		t = r.step(l, now)
	}
	r.mu.Unlock()
	t.do()
	return l
}

// Flush has nothing to send: who was answered by that has his own.
func (*line) Flush() {}

// quietly is an end of which nothing is known: it is looked again with the next attempt.
const quietly = time.Duration(1)

// lasts notes how long the lock does, as its holder counts: on the masters it is a little longer.
func (l *line) lasts(ttl, now time.Duration) {
	l.ends = now + ttl + ttl/99 + 3*time.Millisecond
	l.next = min(l.next, l.ends)
}

// meetsHolder tells of an acquire that others have the lock, of whatever type it is, or want it as much, so that nobody got it.
func meetsHolder(result *quorum.Result) bool {
	return result.Decision == quorum.Contended || result.Decision == quorum.Split
}
