package proxy

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum"
)

// With acquire-wait an acquire that meets a holder waits in a line for its key, first come first served, and is
// refused only when its time is over. That costs no goroutine, and while nothing changes an attempt each lookSpan: the
// first of the line is tried again
//
//	at once                  when something that was asked through this proxy may have freed the key
//	when its holder's ttl    is over, as it was last seen
//	when a quorum has none   which is looked when a master tells that the key has changed, by whomever
//	after lookSpan           since it may not have been told of
//
// An attempt changes the key on a master that lacks it, which is told, too: so what masters tell makes nobody be tried
// before a look that changes nothing.
//
// Nobody but the first is tried, so that a thousand that want one lock cost the masters one attempt for each release. Who comes
// while there is a line stands behind it, and has the masters not asked. Nobody is refused on the word of others that
// was given before he asked.
//
// The lock order is conn.mu, room.mu.

const (
	// lookSpan is how often it is looked whether the key has been freed elsewhere.
	lookSpan = time.Second

	// troubleSpan is after how long it is tried again where no quorum has answered.
	troubleSpan = 100 * time.Millisecond
)

// room is all lines of a server.
type room struct {
	most  time.Duration // acquire-wait; 0: nobody waits
	count atomic.Int64  // of those that wait

	granted, refused atomic.Uint64 // of those that have waited

	mu     sync.Mutex // guards what follows, and lines and waiters
	lines  map[resource]*line
	closed bool // nobody waits any more
}

// resource is what a line is for.
type resource struct {
	db  int
	key string
}

// todo is what came of a change of a line, to be done without mu.
type todo struct {
	tries, refusals []*waiter
	look            *line
	watch           bool // the masters are to tell of changes behind that look
}

func (t *todo) do() {
	for _, w := range t.refusals {
		w.slot.refuse()
	}
	for _, w := range t.tries {
		w.slot.tryAgain()
	}
	if t.look != nil {
		if t.watch {
			t.look.srv.engine.Watch(t.look.at.db, t.look.at.key)
		}
		t.look.srv.engine.Put(&t.look.request, t.look)
	}
}

// enter puts an acquire into the line for its key, behind those that came before it. It is nil if nobody waits any more,
// or if there is no line and there is to be one.
func (r *room) enter(s *slot, now time.Duration, existing bool) (w *waiter, t todo) {
	q := s.asks[0].request
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[resource{q.DB, q.Key}]
	if r.closed || l == nil && existing {
		return nil, t
	}
	if l == nil {
		at := resource{q.DB, strings.Clone(q.Key)}
		l = &line{srv: s.conn.srv, at: at, refused: s.put, next: now + lookSpan, watch: true}
		l.request = quorum.Request{Kind: quorum.Read, DB: at.db, Key: at.key}
		if r.lines == nil {
			r.lines = make(map[resource]*line)
		}
		r.lines[at] = l
	}
	if !existing {
		l.refused = max(l.refused, s.put)
	}
	w = &waiter{slot: s, line: l, asked: s.put, until: s.put + r.most}
	s.waiter = w
	s.conn.waiter.Store(w)
	l.insert(w)
	l.count++
	r.count.Add(1)
	return w, r.step(l, now)
}

// tried notes what an attempt of a waiter's came to. It is true if he waits on.
func (r *room) tried(w *waiter, result *quorum.Result, now time.Duration) (stays bool) {
	refused := meetsHolder(result)
	r.mu.Lock()
	l := w.line
	if l == nil { // it was his last
		r.mu.Unlock()
		return false
	}
	l.trying = nil
	l.next = now + lookSpan
	switch {
	case refused:
		l.refused = max(l.refused, w.slot.put)
		if l.ends <= now {
			l.ends, l.watch = 0, true
		} else {
			l.next = min(l.next, l.ends)
		}
	case result.Decision == quorum.Won:
		l.ends, l.free = quietly, false
		l.told, l.watch, l.heeds = true, true, now+settleSpan
		if ttl := w.slot.asks[0].request.TTL; ttl > 0 {
			l.lasts(ttl, now)
		}
	default:
		l.next = now + troubleSpan
	}
	if stays = refused && now < w.until && !r.closed; !stays {
		r.leave(w)
	}
	t := r.step(l, now)
	r.mu.Unlock()
	t.do()
	return stays
}

// withdraw takes a waiter out of his line before his time: he is answered at once, or nobody is left who is to be.
func (r *room) withdraw(w *waiter, gone bool) (t todo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := w.line
	switch {
	case l == nil:
		return t
	case l.trying == w:
		r.leave(w)
	case gone: // what is counted for it, a quota for one, ends with its answer
		r.leave(w)
		t.refusals = append(t.refusals, w)
	default:
		t.end(r, l, w)
	}
	more := r.step(l, l.srv.clock())
	t.tries, t.refusals = append(t.tries, more.tries...), append(t.refusals, more.refusals...)
	t.look, t.watch = more.look, more.watch
	return t
}

// freed tells that a key may be free.
func (r *room) freed(at resource, now time.Duration) {
	r.mu.Lock()
	var t todo
	if l := r.lines[at]; l != nil {
		t = r.stir(l, now)
	}
	r.mu.Unlock()
	t.do()
}

// inLine is how many wait for a key.
func (r *room) inLine(at resource) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.lines[at]; l != nil {
		return l.count
	}
	return 0
}

// moved tells that the end of a lock is another: after a ttl from now, 0 for when is not known.
func (r *room) moved(at resource, ttl, now time.Duration) {
	r.mu.Lock()
	var t todo
	if l := r.lines[at]; l != nil {
		if l.ends, l.outdated = 0, l.looking; ttl > 0 {
			l.lasts(ttl, now)
		}
		t = r.step(l, now)
	}
	r.mu.Unlock()
	t.do()
}

// freedBy is freed of all that a request may have freed.
func (r *room) freedBy(q *quorum.Request, result *quorum.Result, now time.Duration) {
	switch {
	case q.Kind == quorum.Remove,
		q.Kind == quorum.Release && result.Decision != quorum.Contended,
		q.Kind == quorum.Write && result.Decision != quorum.Contended:
		r.freed(resource{q.DB, q.Key}, now)
	case q.Kind == quorum.Extend && result.Decision == quorum.Won:
		r.moved(resource{q.DB, q.Key}, q.TTL, now)
	case q.Kind == quorum.Run && !q.Script.Reads && (result.Decision != quorum.Contended || result.Tidied):
		for _, key := range slices.Concat(q.Keys, result.Others) {
			r.freed(resource{q.DB, key}, now)
		}
	case q.Flushes():
		db := q.DB
		if q.Args[0] == "FLUSHALL" {
			db = -1
		}
		r.each(db, func(l *line) todo { return r.stir(l, now) })
	}
}

// Changed and Watched are what masters tell of a key: quorum.Observer.
func (s *Server) Changed(master int, key string) {
	now := s.clock()
	if key == "" {
		s.room.each(-1, func(l *line) todo { return s.room.changed(l, true, now) })
	} else {
		s.room.told(key, true, now)
	}
	s.blocked.told(s, master, key)
	s.tracking.changed(s, master, key, now)
}

// Watched is for quorum.Observer.
func (s *Server) Watched(master int, key string, absent bool) {
	if absent {
		s.room.told(key, false, s.clock())
	}
	s.blocked.registered(s, master, key)
	s.tracking.registered(s, master, key, s.clock())
}

// told has the lines for a key be looked after, in whatever database.
func (r *room) told(key string, watch bool, now time.Duration) {
	var all [quorum.Databases]todo
	r.mu.Lock()
	for db := range all {
		if l := r.lines[resource{db, key}]; l != nil {
			all[db] = r.changed(l, watch, now)
		}
	}
	r.mu.Unlock()
	for db := range all {
		all[db].do()
	}
}

// each does something with every line of a database, of all for -1.
func (r *room) each(db int, do func(l *line) todo) {
	r.mu.Lock()
	var all []todo
	for at, l := range r.lines {
		if db < 0 || at.db == db {
			all = append(all, do(l))
		}
	}
	r.mu.Unlock()
	for i := range all {
		all[i].do()
	}
}

// close has nobody wait any more.
func (r *room) close(now time.Duration) {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.each(-1, func(l *line) todo { return r.step(l, now) })
}
