package engine

import (
	"errors"
	"os"
	"sync"

	"redlock-proxy/quorum/master"
)

// A client alone waits for every goroutine that is woken on the way of what it asks. So a lane with nothing to do waits on
// its link, for what its master says; and if nothing else is under way, who puts an op sends it there himself, for the
// lane, and wakes nobody:
//
//	who reads what clients send: puts SET, and writes it to masters 1, 2 and 3
//	each lane, as its master answers: votes
//
// What is otherwise the lane's goroutine's alone is lent to him until it is written. One client has 1.1 of the locks by it
// for .84 of the processor time (13 turns beside a build without it). Where several ask at once somebody who writes to three
// masters would keep the others waiting, and a lane is woken for less than it costs to end its wait on a link: of a lane that
// rests however much its last batch held, 50 clients have .92 of the locks. So it rests where that was one op.

// loan is held by whom a lane is lent to, who leaves there what he has sent.
type loan struct {
	held sync.Mutex
	sent *batch
}

// mayLend tells that the lane, which has nothing to do, may rest on its link. mu is held.
func (q *queue) mayLend() bool { return q.sender.latest <= 1 && q.link != nil && q.link.Lends() }

// lends tells that who has put the only op that waits may send it. mu is held.
func (q *queue) lends() bool {
	return q.idle && q.rests && q.waiting() == 1 && q.bytes < master.Small && q.db.inFlight.Load() == 1 && !q.keeper.outdated()
}

// lend lends the lane to who puts op o, who is to sendFor it. mu is held.
func (q *queue) lend(o *op) {
	q.idle, q.lent = false, true
	q.sender.loan.held.Lock() // which nobody has
	o.lanes |= 1 << q.index
}

// sendFor sends what waits for the lanes that are lent for op o, without waiting.
func (db *database) sendFor(o *op) {
	for i, l := range db.lanes {
		if o.lanes>>i&1 != 0 {
			l.sender.sendLent()
		}
	}
	o.lanes = 0
}

// sendLent gives the lane back when what waits is on its way.
func (s *sender) sendLent() {
	defer s.loan.held.Unlock()
	s.loan.sent = nil
	s.mu.Lock()
	link, b := s.link, s.queue.takeBatch()
	s.mu.Unlock()
	s.load(link, b)
	b.onItsWay, s.loan.sent = true, b
	link.Lend(b.commands)
}

// receive is the rest of exchange of a batch that is on its way.
func (s *sender) receive(link *master.Link, b *batch) error {
	b.answers, b.proof, b.err = link.Receive(len(b.commands), b.proof.Clock.Sent, b.answers)
	return s.settle(link, b, b.proof.Clock.Read)
}

// rest waits until there is something to send, or, with a batch, until that was sent.
func (q *queue) rest() (*batch, error) {
	link := q.link
	for {
		err := link.Await(q.lies)
		lies, roused, lent := q.getUp()
		switch {
		case lent:
			return q.sender.givenBack(), nil
		case roused, !lies && err == nil:
			return nil, nil
		case err == nil:
			return nil, link.Unasked()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		}
		link.Forgive()
	}
}

// givenBack waits until the lane is given back, and tells what was sent for it.
func (s *sender) givenBack() *batch {
	s.loan.held.Lock()
	defer s.loan.held.Unlock()
	return s.loan.sent
}

// lie tells that there is nothing to do, and begins to rest.
func (q *queue) lie() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mayNotRest() {
		return false
	}
	q.idle, q.rests = true, true
	return true
}

// getUp ends that: it tells whether the lane did rest, and what came of it.
func (q *queue) getUp() (rested, roused, lent bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	rested, roused, lent = q.rests, q.rests && !q.idle, q.lent
	q.idle, q.rests, q.lent = false, false, false
	return rested, roused, lent
}
