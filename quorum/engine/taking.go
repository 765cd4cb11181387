package engine

import (
	"context"
	"slices"

	"redlock-proxy/quorum/master"
)

// take waits for something to send, and takes a batch of it. An empty batch is
// a probe.
func (q *queue) take(ctx context.Context) (*batch, error) {
	q.mu.Lock()
	q.carried = 0
	// Who had this lane look anew may have found it busy, and woken nobody.
	if q.waiting() == 0 && !q.keeper.outdated() {
		q.idle, q.lends = true, true
		q.mu.Unlock()
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
		if b, err := q.givenBack(); b != nil || err != nil {
			return b, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	} else {
		q.mu.Unlock()
	}
	// Where there is much to do, others may be about to put something, too. What waits
	// for the same batch costs the master, and us, next to nothing more.
	if q.sender.latest > 1 {
		yield()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.takeBatch(), nil
}

// takeBatch takes what fits into a batch. mu is held.
func (q *queue) takeBatch() *batch {
	head := fittingErrands(q.errands, maxBatch)
	errands := q.errands[:head:head]
	if head == len(q.errands) {
		q.errands = nil
	} else {
		q.errands = q.errands[head:]
	}
	errands = slices.DeleteFunc(errands, func(e errand) bool { return !q.leaves(e) })
	errands = q.takeOut(errands, maxBatch)
	ops, room := q.ops, maxBatch-len(errands)
	n, waits := fitting(ops, room), map[string]struct{}(nil)
	if len(q.errands) > 0 && min(room, len(ops)) > 0 {
		n, waits = 0, waitingFor(q.errands) // any of those that fit may have to wait
	}
	if n = overtake(ops, n, room, waits); len(ops) > n {
		ops = ops[:n:n]
		q.ops = q.ops[n:]
	} else {
		q.ops, q.sender.spare = q.sender.spare[:0], nil
	}
	b := q.sender.newBatch(errands, ops)
	b.ordinal = q.sentSo.last
	for _, o := range ops {
		q.sentSo.note(o)
		q.unqueued(o)
	}
	q.flying = append(q.flying, b)
	q.sender.latest = len(errands) + len(ops)
	q.carried = q.sender.latest
	return b
}

// leaves takes an errand out of the line, and tells that it is tried next. mu is held.
func (q *queue) leaves(e errand) bool {
	q.removed(e)
	d := e.owes()
	if d == nil {
		return true
	}
	if !q.mayTakeBack(d) {
		return false
	}
	q.tries(d)
	return true
}

// tries notes where a debt stands that is tried next. mu is held.
func (q *queue) tries(d *debt) {
	if d.tried == 0 {
		d.tried = q.sentSo.last + 1
	}
}

// fittingErrands is fitting of errands.
func fittingErrands(errands []errand, n int) int {
	bytes := 0
	for i := range errands[:min(n, len(errands))] {
		if bytes += errands[i].room(); bytes > maxBatchBytes && i > 0 {
			return i
		}
	}
	return min(n, len(errands))
}

// fitting is how many of ops, and at most n, fit into a batch by what they come to.
func fitting(ops []*op, n int) int {
	bytes := 0
	for i, o := range ops[:min(n, len(ops))] {
		if bytes += o.load(); bytes > maxBatchBytes && i > 0 {
			return i
		}
	}
	return n
}

// waitingFor are the tags of the errands that did not fit into a batch.
func waitingFor(errands []errand) map[string]struct{} {
	waits := make(map[string]struct{}, len(errands))
	for _, e := range errands {
		wait(e.about(), waits)
	}
	return waits
}

// overtake is how many of ops go into a batch, and at most so many, where the first n of them
// do, as no more fit. Those that are short go before the long ones behind that: who takes a
// lock is not to wait until all values have come that others read. About each tag the order
// stays as it is, and nothing goes before what is about all keys.
//
// Where errands wait for the next batch, n is 0, and nothing about one of their tags, which
// are in waits, goes either. It would be carried out before the errand:
//
//	1: SET k x comes to nothing, but master 1 has done it. It is to be put back there, when a
//	   megabyte of others is
//	2: SET k x is said again, and answered with OK
//	3: if master 1 was sent that before it puts k back, it puts back what was answered
//
// Other keys do not wait: there may be tens of megabytes of errands, which take a master
// longer than a decision may.
func overtake(ops []*op, n, most int, waits map[string]struct{}) int {
	if n >= len(ops) || n >= most {
		return n
	}
	if waits == nil {
		waits = make(map[string]struct{})
	}
	full, bytes := n > 0, 0
	rest := ops[n:min(len(ops), n+maxBatch)]
	var stay []*op
	for i, o := range rest {
		if n == most || o.kind().everyKey {
			stay = append(stay, rest[i:]...)
			break
		}
		full = full || n > 0 && bytes+o.load() > maxBatchBytes
		keys := o.keys()
		if full && o.weight >= master.Small || waiting(keys, waits) {
			wait(keys, waits)
			stay = append(stay, o)
			continue
		}
		bytes += o.load()
		ops[n] = o // whose own place is not before that
		n++
	}
	copy(ops[n:], stay)
	return n
}

// load is what an op that waits adds to a batch in bytes. What the other masters have decided
// meanwhile adds nothing, as it is not sent: a master that lags would else never catch up.
func (o *op) load() int {
	if o.weight >= master.Small && o.pointless() {
		return 0
	}
	return o.weight
}
