package proxy

import (
	"container/list"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// Who asks for an element of a list or a sorted set by BLPOP and its kin, and finds none, stands in a line for each of
// the keys that he named, first come first served. That costs no goroutine. The first of a line asks again
//
//	at once                  when something that was asked through this proxy has changed the key
//	when there is something  which is looked when a master tells that the key has changed, by whomever
//
// and that is looked now and then besides, since a master may not have told: each lookSpan, or each restSpan where so
// many masters tell of the key that no quorum can change it without one of them. Who asks is given of that key alone,
// and one at a time: those in one line are served in their order.
//
// The lock order is conn.mu, blockedRoom.mu.

const (
	// restSpan is how often it is looked where it is certain that a change is told.
	restSpan = 30 * time.Second

	// burstSpan and burstLooks bound how often it is looked as masters tell of changes: so many times within so long.
	burstSpan  = 20 * time.Millisecond
	burstLooks = 4

	// mostAsking is how many ask at a time. Of those who are served at once many would wait for others in the masters'
	// queues, and in vain.
	mostAsking = 128

	// mostLooks is at how many lines it is looked at a time: all of them are to be where a master has lost what it was to
	// tell, and the locks of others would have to wait for that.
	mostLooks = 128

	// placeSize is about what a line for a key takes beside that. It counts for each who stands there, who may be the only one.
	placeSize = 1 << 10
)

// blockedRoom is all lines of a server for elements.
type blockedRoom struct {
	count atomic.Int64 // of those that wait

	mu     sync.Mutex // guards what follows, and lines and who stands in them
	lines  map[wanted]*popLine
	ready  []*popper  // who are to ask, in their order
	asking int        // how many do
	due    []*popLine // at which it is to be looked, in their order
	looks  int        // at how many it is
	closed bool       // nobody waits any more
	enough int        // masters that tell of a key, so that no quorum changes it untold; 0 if that is not known
}

// wanted is what a line is for.
type wanted struct {
	db   int
	key  string
	kind string // commands.Block.Type
}

// popLine is those who wait for elements under a key.
type popLine struct {
	srv     *Server
	at      wanted
	waiting list.List     // of poppers, in their order
	trying  *popper       // who asks
	again   bool          // somebody is to ask
	next    time.Duration // when it is looked whether there is anything
	looking bool
	watch   bool          // at the next look, masters are to tell of changes from then on, as where too few do
	told    uint64        // the masters that will
	vain    int           // how often in a row there was something, and who asked got nothing
	rest    time.Duration // until when nobody asks for that
	burst   int           // looks since bursts
	bursts  time.Duration
	request quorum.Request
	timer   *time.Timer
}

// popper is a client in his lines. It is the slot's until that is answered.
type popper struct {
	slot   *slot
	places []popPlace // none: he has left
	asks   *popLine   // for whose key he asks; nil: for none
	over   bool       // and that is the last time
	failed bool       // by CLIENT UNBLOCK, to be answered with an error
	takes  int64      // that he waits
	timer  *time.Timer
}

// popPlace is where a client stands in one of his lines.
type popPlace struct {
	line *popLine
	at   *list.Element // of its waiting
}

// popTodo is what came of a change, to be done without mu.
type popTodo struct {
	tries []*popper
	ends  []*popper
	looks []popLook
}

type popLook struct {
	line  *popLine
	watch bool
}

func (t *popTodo) do() {
	for _, p := range t.ends {
		p.slot.blockOver()
	}
	for _, p := range t.tries {
		p.slot.askAgain()
	}
	for _, look := range t.looks {
		l := look.line
		if look.watch {
			l.srv.engine.Watch(l.at.db, l.at.key)
		}
		l.srv.engine.Put(&l.request, l)
	}
}

// enter has a slot that found nothing, or has but looked since others wait, stand in the lines for its keys. It is false
// if nobody waits any more. mu of its connection is held.
func (r *blockedRoom) enter(s *slot, now time.Duration) (waits bool, t popTodo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false, t
	}
	b, db := s.block, s.asks[0].request.DB
	p := &popper{slot: s, places: make([]popPlace, 0, len(b.Keys))}
	for i, key := range b.Keys {
		l := r.line(s.conn.srv, wanted{db, key, b.Type}, now)
		if i == 0 || !p.standsIn(l) {
			p.places = append(p.places, popPlace{l, l.waiting.PushBack(p)})
			p.takes += placeSize + int64(len(key))
		}
	}
	s.popper = p
	s.conn.popper.Store(p)
	r.count.Add(1)
	if b.For > 0 {
		p.timer = time.AfterFunc(b.For, func() { r.end(p, false) })
	}
	for i := range p.places {
		p.places[i].line.step(r, now)
	}
	r.admit(&t)
	return true, t
}

// admit has as many ask, and be looked at, as may. mu is held, and step was called before.
func (r *blockedRoom) admit(t *popTodo) {
	n := min(len(r.ready), mostAsking-r.asking)
	t.tries = append(t.tries, r.ready[:n]...)
	r.asking += n
	if r.ready = r.ready[n:]; len(r.ready) == 0 {
		r.ready = nil
	}
	for len(r.due) > 0 && r.looks < mostLooks {
		l := r.due[0]
		if r.due = r.due[1:]; r.lines[l.at] != l { // it has ended meanwhile
			continue
		}
		r.looks++
		t.looks = append(t.looks, popLook{l, l.watch || l.span() == lookSpan})
		l.watch = false
	}
	if len(r.due) == 0 {
		r.due = nil
	}
}

func (p *popper) standsIn(l *popLine) bool {
	return slices.ContainsFunc(p.places, func(at popPlace) bool { return at.line == l })
}

// waited tells that others wait for one of the keys, behind whom a client is to stand.
func (r *blockedRoom) waited(db int, b *commands.Block) bool {
	if r.count.Load() == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(b.Keys, func(key string) bool { return r.lines[wanted{db, key, b.Type}] != nil })
}

// line is the line for a key; a new one begins with a look. mu is held.
func (r *blockedRoom) line(srv *Server, at wanted, now time.Duration) *popLine {
	l := r.lines[at]
	if l == nil {
		at.key = strings.Clone(at.key)
		l = &popLine{srv: srv, at: at, next: now, watch: true}
		l.request = quorum.Request{Kind: quorum.Read, DB: at.db, Key: at.key}
		if r.lines == nil {
			r.lines = make(map[wanted]*popLine)
		}
		r.lines[at] = l
	}
	return l
}

// leave takes a client out of all his lines. mu is held.
func (r *blockedRoom) leave(p *popper, now time.Duration) {
	places := p.places
	p.places = nil
	if p.timer != nil {
		p.timer.Stop()
	}
	r.count.Add(-1)
	for _, at := range places {
		at.line.waiting.Remove(at.at)
	}
	for i := range places {
		places[i].line.step(r, now)
	}
}

// tried notes what a client got who asked again. It is true if he waits on.
func (r *blockedRoom) tried(p *popper, result *quorum.Result, now time.Duration) (stays bool) {
	b := p.slot.block
	nothing, found, more := b.Nothing(result), b.Found(result), b.More(result)
	var t popTodo
	r.mu.Lock()
	l := p.asks
	if l == nil { // nobody has asked: his time is over
		r.mu.Unlock()
		return false
	}
	p.asks, l.trying = nil, nil
	r.asking--
	switch {
	case !found: // what there is may be for the next
		l.vain++
		l.rest = now + min(time.Millisecond<<min(l.vain, 10), lookSpan)
		l.next = now
	default:
		l.vain, l.again = 0, l.again || more
		l.next = min(l.next, now+l.span())
	}
	switch stays = nothing && !p.over && !r.closed; {
	case !stays:
		r.leave(p, now)
	default:
		for i := range p.places {
			p.places[i].line.step(r, now)
		}
	}
	r.admit(&t)
	r.mu.Unlock()
	t.do()
	return stays
}

// end has a client wait no longer. It is false if he does not.
func (r *blockedRoom) end(p *popper, failed bool) bool {
	waits, t := r.withdraw(p, failed)
	t.do()
	return waits
}

func (r *blockedRoom) withdraw(p *popper, failed bool) (waits bool, t popTodo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waits = p.places != nil && !p.over; !waits {
		return false, t
	}
	p.failed = failed
	if p.over = true; p.asks == nil {
		t.ends = append(t.ends, p)
		r.leave(p, p.slot.conn.srv.clock())
	}
	r.admit(&t)
	return true, t
}
