package engine

import (
	"errors"
	"slices"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/master"
)

// A client alone waits for every goroutine that is woken on the way of what it asks. So who waits
// for what clients send, and has nothing else to do, stays with the only request that is under way:
// he borrows the lanes that have nothing to do, whose goroutines go on to sleep, writes to their masters,
// waits for all of them at once, and takes in what they answer as it comes.
//
//	who reads what clients send: puts SET, writes it to masters 1, 2 and 3, reads what they answer, votes, writes the reply
//	each lane:                   sleeps
//
// He leaves what is not answered yet to the lanes as soon as clients send more, and in a few milliseconds in any case;
// and what may take its time at once: a long answer, or one that is not as it should be, and the look at a master that
// is due. So nobody waits for a master because of him.

// stay is somebody who does so.
type stay struct {
	watch *master.Watch
	most  int           // milliseconds: how long he stays
	lanes []carried     // that he knows
	now   time.Duration // our clock, which is asked by a system call, as he last saw it

	stayed bool // the latest time, he left nothing, and has not told so yet
}

// carried is a lane that is watched, on its link, and what he carries there.
type carried struct {
	lane  *lane
	n     int          // its number
	link  *master.Link // nil: it cannot be watched
	batch *batch       // nil: nothing
}

// Stay is for who waits until there is input at fd, to PutStaying. It fails where the system denies that.
func (e *Engine) Stay(fd int) (quorum.Stay, error) {
	w, err := master.NewWatch(fd)
	if err != nil {
		return nil, err
	}
	return &stay{watch: w, most: 2}, nil
}

// Close ends it, when nothing is put any more.
func (s *stay) Close() { s.watch.Close() }

// Stayed is quorum.Stay's.
func (s *stay) Stayed() (yes bool) {
	yes, s.stayed = s.stayed, false
	return yes
}

// PutStaying is PutSince by somebody who has nothing to do until there is input where his Stay waits for
// that: it may return only when all masters have answered, also those that are not needed any more, but as soon
// as there is, and soon in any case.
func (e *Engine) PutStaying(r *quorum.Request, asker quorum.Asker, asked time.Time, with quorum.Stay) {
	s, _ := with.(*stay)
	e.of(r).put(r, asker, asked, s)
}

// lent is the part of a queue that is about that. The lane's mu guards it, but for held.
type lent struct {
	lends  bool       // the lane's goroutine waits for something to send, and uses nothing of the lane meanwhile
	held   sync.Mutex // by who has borrowed the lane
	batch  *batch     // that he has left
	broken error      // what is wrong with the link
}

// borrow has the caller be the only one who uses the lane, until he gives it back, if he may: as
// long as it has nothing to do but the one op that he has put, and had no more before. Of a lane
// that has more to do each batch is of several ops, and who carries it would keep others waiting.
// mu is held.
func (q *queue) borrow() bool {
	if !q.idle || !q.lends || q.waiting() != 1 || q.bytes >= master.Small || q.sender.latest > 1 ||
		q.keeper.outdated() || q.link == nil || !q.link.Sends() || !q.held.TryLock() {
		return false
	}
	q.idle, q.lends = false, false
	return true
}

// giveBack gives the lane back to its goroutine, with a batch that he has left, or what is wrong with the link.
// He sleeps on if there is nothing to do. now is by our clock.
func (q *queue) giveBack(b *batch, broken error, now time.Duration) {
	busy := q.keeper.doubt || q.connector.discharged() || q.keeper.inspects(now) || q.sender.most(q.link) > 1
	q.mu.Lock()
	defer q.held.Unlock()
	defer q.mu.Unlock()
	if busy || b != nil || broken != nil || q.waiting() > 0 || q.keeper.outdated() {
		q.lent.batch, q.broken = b, broken
		q.wake <- struct{}{} // there is room: nobody else wakes a lane that is not idle
		return
	}
	q.carried = 0
	q.idle, q.lends = true, true
}

// givenBack waits until nobody has borrowed the lane, nor does from here on, and returns what who has has left.
func (q *queue) givenBack() (b *batch, broken error) {
	q.held.Lock()
	defer q.held.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.idle, q.lends = false, false
	b, broken = q.lent.batch, q.broken
	q.lent.batch, q.broken = nil, nil
	return b, broken
}

// carry carries what waits in the borrowed lanes, and gives them back, whatever happens.
func (s *stay) carry(db *database, borrowed uint16) {
	began := time.Now()
	s.stayed, s.now = true, db.Boot()
	defer s.leaveAll()
	for i, l := range db.lanes {
		if borrowed>>i&1 != 0 {
			s.take(l)
		}
	}
	for i := range s.lanes {
		s.send(&s.lanes[i])
	}
	for s.carries() {
		came, called := s.watch.Wait(s.most)
		for _, n := range came {
			s.receive(&s.lanes[n])
		}
		if called || len(came) == 0 || time.Since(began) >= time.Duration(s.most)*time.Millisecond { // who drips does not keep him either
			return
		}
	}
}

// carries tells that he waits for an answer.
func (s *stay) carries() bool {
	return slices.ContainsFunc(s.lanes, func(w carried) bool { return w.batch != nil })
}

// take takes what waits in a lane.
func (s *stay) take(l *lane) {
	l.mu.Lock()
	link, b := l.link, l.queue.takeBatch()
	l.mu.Unlock()
	w := s.carried(l)
	if w.batch = b; w.link != link {
		if w.link = link; s.watch.Add(link, w.n) != nil {
			w.link = nil
		}
	}
}

// carried is the lane as he knows it.
func (s *stay) carried(l *lane) *carried {
	n := slices.IndexFunc(s.lanes, func(w carried) bool { return w.lane == l })
	if n < 0 {
		if n = slices.IndexFunc(s.lanes, func(w carried) bool { return w.lane.db.closing.Load() && w.batch == nil }); n < 0 {
			n = len(s.lanes)
			s.lanes = append(s.lanes, carried{})
		}
		s.lanes[n] = carried{lane: l, n: n}
	}
	return &s.lanes[n]
}

// leaveAll leaves what is not answered yet to the lanes.
func (s *stay) leaveAll() {
	for i := range s.lanes {
		s.leave(&s.lanes[i])
	}
}

// leave leaves what he carries to the lane.
func (s *stay) leave(w *carried) {
	if b := w.batch; b != nil {
		w.batch, s.stayed = nil, false
		w.lane.queue.giveBack(b, nil, s.now)
	}
}

// send sends what he carries, or leaves it to the lane: more was put since, the link is not watched, or it is time to look
// at the master.
func (s *stay) send(w *carried) {
	b := w.batch
	switch {
	case b == nil:
		return
	case len(b.ops) != 1 || len(b.errands) > 0 || w.link == nil:
		s.leave(w)
		return
	}
	w.lane.sender.load(w.link, b, s.now)
	if b.stage = loaded; b.looks || b.tries || !b.small() {
		s.leave(w)
		return
	}
	b.sentAt = s.now
	if b.err = w.link.Send(b.commands); b.err != nil {
		b.stage = complete
		s.leave(w)
		return
	}
	b.stage = onItsWay
}

// receive takes in what has come.
func (s *stay) receive(w *carried) {
	b := w.batch
	if b == nil {
		return
	}
	all, err := w.link.HasCome()
	switch {
	case err == master.ErrTooMuch:
		s.leave(w)
		return
	case err != nil:
		b.err = err
	case !all:
		return
	default:
		b.answers, b.proof, b.err = w.link.Receive(len(b.commands), b.sentAt, b.answers)
	}
	b.stage = complete
	if b.err != nil || slices.ContainsFunc(b.answers, func(a decide.Answer) bool { return a.Kind == quorum.FailureReply }) {
		s.leave(w)
		return
	}
	s.now = b.proof.Clock.Read
	s.settle(w)
}

// settle settles what he carries, and gives the lane back, also where that panics.
func (s *stay) settle(w *carried) {
	b, broken := w.batch, errUnsettled
	w.batch = nil
	defer func() { w.lane.queue.giveBack(nil, broken, s.now) }()
	broken = w.lane.sender.settle(w.link, b, s.now)
}

var errUnsettled = errors.New("its answers could not be taken in")

// small tells that the commands of a batch fit into a socket from which all has been read.
func (b *batch) small() bool {
	n := 0
	for _, c := range b.commands {
		for _, arg := range c.Commands() {
			n += len(arg)
		}
	}
	return n < master.Small
}
