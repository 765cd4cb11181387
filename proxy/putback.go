package proxy

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// Elements of which a client is not told are put back where they were taken from. That is a step as any, of which one at a
// time is under way for a key: so those of one key go back together, and what was taken last goes first, as they may be many, of
// many clients who are cut off at once. It is tried again for a while, each time without the masters that may have done it
// before: else a quorum might have them twice.
//
//	1: x is put back on master 1, whose link is lost before it is taken back there; 2 and 3 are busy
//	2: it is put back on 2, with which the same happens
//	3: it is put back on all: 1 and 2 have x twice

const (
	// returnsGather is for how long elements gather before the first of a key are put back.
	returnsGather = 2 * time.Millisecond

	// returnsPatience is for how long it is tried to put them back.
	returnsPatience = time.Minute

	// mostReturned and returnedSize bound what is put back at a time.
	mostReturned = 512
	returnedSize = 256 << 10
)

// returns is what is to be put back.
type returns struct {
	taken atomic.Uint64 // numbers commands in the order in which they were given elements

	mu    sync.Mutex // guards lines, and what waits in them
	lines map[returnsAt]*returning
}

// returnsAt is where elements go back, and how.
type returnsAt struct {
	db        int
	key, into string
}

// returning is what goes back to one key, and the engine's asker for it.
type returning struct {
	srv     *Server
	at      returnsAt
	waiting []*putBack

	request quorum.Request
	going   []*putBack // in request
	since   time.Duration
	tries   int
}

// putBack gives back elements that nobody was told of.
type putBack struct {
	srv      *Server
	db       int
	returned commands.Returned
	nth      uint64
}

// put has them be put back. Nil is nothing.
func (p *putBack) put() {
	if p == nil {
		return
	}
	r := &p.srv.returns
	at := returnsAt{p.db, p.returned.Key, p.returned.Into}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[at]
	if l == nil {
		if r.lines == nil {
			r.lines = make(map[returnsAt]*returning)
		}
		l = &returning{srv: p.srv, at: at}
		r.lines[at] = l
		time.AfterFunc(returnsGather, l.next)
	}
	l.waiting = append(l.waiting, p)
}

// next puts back those that were taken last.
func (l *returning) next() {
	if l.gather() {
		l.since, l.tries = l.srv.clock(), 0
		l.srv.engine.Put(&l.request, l)
	}
}

// gather makes a request of what waits. It is false if nothing does: the line is over then.
func (l *returning) gather() bool {
	r := &l.srv.returns
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.going = nil; len(l.waiting) == 0 {
		delete(r.lines, l.at)
		return false
	}
	slices.SortStableFunc(l.waiting, func(a, b *putBack) int { return cmp.Compare(b.nth, a.nth) })
	all, n, size := commands.Returned{Key: l.at.key, Into: l.at.into}, 0, 0
	for ; n < len(l.waiting); n++ {
		p := l.waiting[n]
		if size += p.returned.Size(); n > 0 && (size > returnedSize || len(all.Elements)+len(p.returned.Elements) > mostReturned) {
			break
		}
		all.Elements = append(all.Elements, p.returned.Elements...)
	}
	l.going = slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	l.request = all.Request()
	l.request.DB, l.request.GivesBack = l.at.db, true
	return true
}

// Answer is the engine's.
func (l *returning) Answer(result quorum.Result) quorum.Flusher {
	s := l.srv
	if result.Decision != quorum.Won && s.clock()-l.since < returnsPatience {
		pause := min(10*time.Millisecond<<min(l.tries, 7), time.Second)
		l.tries++
		l.request.Again = result.Tried
		time.AfterFunc(pause, func() { s.engine.Put(&l.request, l) })
		return l
	}
	if result.Decision != quorum.Won {
		s.log.Error("elements that were taken for clients that have gone could not be put back",
			"key", l.at.key, "commands", len(l.going), "masters", result.Why)
	}
	s.blocked.stirred(s, l.at.db, l.at.key)
	for range l.going {
		defer s.taking.Done() // once the others go
	}
	l.next()
	return l
}

// Flush has nothing to send.
func (*returning) Flush() {}

// putBack is what is to be put back of a slot of which its client is not told what he has got; nil if that is nothing.
func (c *conn) putBack(s *slot) *putBack {
	returned, some := s.block.Returned(&s.results[0], s.again)
	if !some {
		return nil
	}
	c.srv.taking.Add(1)
	return &putBack{c.srv, s.asks[0].request.DB, returned, s.taken}
}
