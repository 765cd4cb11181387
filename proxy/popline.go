package proxy

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// step brings a line to where it is to be now. mu is held.
func (l *popLine) step(r *blockedRoom, now time.Duration) {
	first := l.waiting.Front()
	if first == nil {
		if r.lines[l.at] == l {
			delete(r.lines, l.at)
		}
		if l.timer != nil {
			l.timer.Stop()
		}
		return
	}
	p := first.Value.(*popper)
	if l.again && l.trying == nil && p.asks == nil { // else this is looked at when he knows
		l.again, l.trying, p.asks = false, p, l
		r.ready = append(r.ready, p)
	}
	if l.looking || l.trying != nil {
		return
	}
	if l.next <= now {
		if l.next = now + l.span(); now-l.bursts > burstSpan {
			l.burst, l.bursts = 0, now
		}
		l.looking = true
		l.burst++
		r.due = append(r.due, l)
		return
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(l.next-now, l.wake)
	} else {
		l.timer.Reset(max(l.next-now, 0))
	}
}

// span is how long nothing is looked at where nothing is told.
func (l *popLine) span() time.Duration {
	if n := l.srv.blocked.enough; n > 0 && bits.OnesCount64(l.told) >= n {
		return restSpan
	}
	return lookSpan
}

// wake is the timer's.
func (l *popLine) wake() { l.srv.blocked.with(l, func(time.Duration) {}) }

// with does something with a line, and brings it to where it is to be, unless it has ended.
func (r *blockedRoom) with(l *popLine, do func(now time.Duration)) {
	var t popTodo
	r.mu.Lock()
	now := l.srv.clock()
	if do(now); r.lines[l.at] == l {
		l.step(r, now)
	}
	r.admit(&t)
	r.mu.Unlock()
	t.do()
}

// change does something with these lines, those that there are, and brings them to where they are to be.
func (r *blockedRoom) change(srv *Server, lines iter.Seq[*popLine], do func(l *popLine, now time.Duration)) {
	if r.count.Load() == 0 {
		return
	}
	var t popTodo
	r.mu.Lock()
	now := srv.clock()
	for l := range lines {
		if l != nil {
			do(l, now)
			l.step(r, now)
		}
	}
	r.admit(&t)
	r.mu.Unlock()
	t.do()
}

// of are the lines for a key of a database. mu is held where they are gone through.
func (r *blockedRoom) of(db int, key string) iter.Seq[*popLine] {
	return func(yield func(*popLine) bool) {
		for _, kind := range commands.BlockTypes {
			if !yield(r.lines[wanted{db, key, kind}]) {
				return
			}
		}
	}
}

// anywhere are those for a key in all databases, all lines if it is "", which no master tells of. The same.
func (r *blockedRoom) anywhere(key string) iter.Seq[*popLine] {
	return func(yield func(*popLine) bool) {
		if key == "" {
			maps.Values(r.lines)(yield)
			return
		}
		for db := range quorum.Databases {
			for l := range r.of(db, key) {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// Answer is what the masters hold under the key.
func (l *popLine) Answer(result quorum.Result) quorum.Flusher {
	r := &l.srv.blocked
	r.with(l, func(now time.Duration) {
		r.looks--
		l.looking = false
		switch {
		case result.Decision != quorum.Won:
			l.next = min(l.next, now+troubleSpan)
		case !result.Exists || result.Type != l.at.kind:
			l.vain = 0
		case l.vain > 0 && now < l.rest:
			l.next = l.rest
		default:
			l.again = true
		}
	})
	return l
}

// Flush has nothing to send: who was answered by that has his own.
func (*popLine) Flush() {}

// changed has it be looked at once whether there is something, or soon where that was looked often.
func (l *popLine) changed(now time.Duration) {
	at := now
	if l.burst >= burstLooks && now-l.bursts <= burstSpan {
		at = l.bursts + burstSpan + time.Microsecond
	}
	l.next = min(l.next, at)
}

// told is that a key has changed on a master, all of them if it is "".
func (r *blockedRoom) told(srv *Server, master int, key string) {
	r.change(srv, r.anywhere(key), func(l *popLine, now time.Duration) {
		l.told &^= 1 << master
		l.watch = true
		l.changed(now)
	})
}

// registered is that a master tells of a key from now on. What has become of it before is looked at when so many do
// that no later change is missed.
func (r *blockedRoom) registered(srv *Server, master int, key string) {
	r.change(srv, r.anywhere(key), func(l *popLine, now time.Duration) {
		rests := l.span() == restSpan
		l.told |= 1 << master
		if !rests && l.span() == restSpan {
			l.changed(now)
		}
	})
}

// stirred is that something that was asked through this proxy has changed a key.
func (r *blockedRoom) stirred(srv *Server, db int, key string) {
	r.change(srv, r.of(db, key), func(l *popLine, _ time.Duration) { l.again, l.rest, l.vain = true, 0, 0 })
}

// stirredBy is stirred of all keys that a request may have changed, but for so many of the first.
func (r *blockedRoom) stirredBy(srv *Server, q *quorum.Request, result *quorum.Result, but int) {
	if q.Kind != quorum.Run || q.Script.Reads || result.Decision == quorum.Contended {
		return
	}
	for _, key := range slices.Concat(q.Keys[min(but, len(q.Keys)):], result.Others) {
		r.stirred(srv, q.DB, key)
	}
}

// hangsOn says how many masters have to tell of a key, so that no quorum changes it untold, and whether others vote than
// before: what they hold was not told.
func (r *blockedRoom) hangsOn(srv *Server, enough int, others bool) {
	r.mu.Lock()
	r.enough = enough
	r.mu.Unlock()
	if others {
		r.change(srv, r.anywhere(""), func(l *popLine, now time.Duration) { l.next = now })
	}
}

// close has nobody wait any more.
func (r *blockedRoom) close() {
	r.mu.Lock()
	r.closed = true
	var all []*popper
	for _, l := range r.lines {
		for at := l.waiting.Front(); at != nil; at = at.Next() {
			all = append(all, at.Value.(*popper))
		}
	}
	r.mu.Unlock()
	for _, p := range all {
		r.end(p, false)
	}
}
