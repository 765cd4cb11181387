package engine

import (
	"context"
	"os"
	"slices"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// A master that is far: what is asked while a batch is on its way would wait for up to
// a round trip, and then take one. So several batches are on their way at once, each
// with its own proof. No two of them are about one key, so that it does not matter in
// which order the master gets them: what is asked about a key that is on its way waits,
// with all that was asked about it later. What is about all keys goes alone.
//
// It costs processor time to send the same commands in more batches, on both sides, so
// it is not done for a master that is near.

const (
	// perBatch of the least round trip allows one batch more.
	perBatch = 500 * time.Microsecond
	// maxAbreast are on their way at once: one every eighth of a round trip.
	maxAbreast = 8
	// minTrips tell how far a master is.
	minTrips = 32
)

// abreast are the batches on their way to a master that is far. The lane's goroutine
// alone uses them.
type abreast struct {
	answered chan *batch // has room for all
	inAir    []*batch    // in the order in which they were sent
	about    map[string]int
	clears   bool // a survey waits, so nothing more is sent before it
	timeout  *time.Timer
}

// most is how many batches may be on their way on a link.
func (l *lane) most(link *master.Link) int {
	least, trips := link.RoundTrip()
	if trips < minTrips {
		return 1
	}
	return min(1+int(least/perBatch), maxAbreast)
}

// aloft tells that batches are on their way.
func (l *lane) aloft() bool { return len(l.inAir) > 0 }

// carry takes one step: it sends a batch, or takes in the answers to one.
func (l *lane) carry(ctx context.Context, link *master.Link) error {
	most := l.most(link)
	if most == 1 && !l.aloft() {
		b, err := l.queue.take(ctx)
		if err != nil {
			return err
		}
		return l.exchange(link, b)
	}
	lands := l.keeper.doubt || l.discharged() || l.keeper.inspects()
	if len(l.inAir) < most && !(lands && l.aloft()) {
		if b := l.takeSome(); b != nil {
			l.launch(link, b)
			return nil
		}
	}
	return l.await(ctx, link)
}

// await waits until a batch is answered or, if there was nothing to send, there is.
func (l *lane) await(ctx context.Context, link *master.Link) error {
	var timeout <-chan time.Time
	if l.aloft() {
		since := l.inAir[0].began
		if heard := link.Heard(); heard.After(since) {
			since = heard
		}
		l.timeout.Reset(time.Until(since.Add(l.db.MasterTimeout)))
		timeout = l.timeout.C
	}
	var err error
	select {
	case <-l.queue.wake:
		if l.aloft() {
			return nil
		}
		b := l.takeSome()
		if b == nil {
			b = l.newBatch(nil, nil) // a probe
		}
		l.launch(link, b)
	case b := <-l.answered:
		err = l.land(link, b)
	case <-timeout:
		if !link.Heard().Add(l.db.MasterTimeout).After(time.Now()) {
			err = os.ErrDeadlineExceeded
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.queue.rest()
	return err
}

// rest ends that the lane is idle though nobody has woken it.
func (q *queue) rest() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.idle {
		select {
		case <-q.wake:
		default:
		}
	}
	q.idle = false
}

// takeSome takes what may be sent now. If there is nothing it is nil, and the lane is idle
// from here on, unless something waits until nothing is on its way.
func (l *lane) takeSome() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.aloft() {
		l.queue.carried, l.clears = 0, false
	} else if l.clears || l.inAir[0].alone {
		return nil
	}
	b := l.newBatch(nil, nil)
	b.ordinal = l.queue.sentSo.last
	waits := make(map[string]struct{})
	l.takeErrands(b, waits)
	l.takeOps(b, waits)
	n := len(b.errands) + len(b.ops)
	if n == 0 {
		l.spareBatch, l.queue.idle = b, true
		return nil
	}
	l.queue.flying = append(l.queue.flying, b)
	l.queue.carried += n
	return b
}

// takeErrands takes errands and messages, and notes the keys of those that wait. mu is held.
func (l *lane) takeErrands(b *batch, waits map[string]struct{}) {
	weight := 0
	l.queue.errands = slices.DeleteFunc(l.queue.errands, func(e errand) bool {
		fits := len(b.errands) == 0 || len(b.errands) < maxBatch && weight+e.size() <= maxBatchBytes
		if !fits {
			wait(e.about(), waits) // nothing about its key goes before it, see overtake
		}
		goes := fits && l.goes(e.about(), waits)
		if goes {
			l.queue.leaves(&e)
			b.errands, b.keys = append(b.errands, e), append(b.keys, e.about()...)
			weight += e.size()
		}
		return goes
	})
	if len(l.queue.outbox.list) > 0 && !slices.ContainsFunc(l.inAir, func(b *batch) bool { return b.messages }) {
		n := len(b.errands)
		b.errands = l.queue.outbox.take(b.errands, maxBatch-n)
		b.messages = len(b.errands) > n
	}
}

// takeOps takes ops, but for those about keys of what waits. mu is held.
func (l *lane) takeOps(b *batch, waits map[string]struct{}) {
	stop, full, bytes := false, false, 0
	l.queue.ops = slices.DeleteFunc(l.queue.ops, func(o *op) bool {
		stop = stop || len(b.errands)+len(b.ops) >= maxBatch || full && o.Kind == quorum.Survey
		full = full || len(b.ops) > 0 && bytes+o.load() > maxBatchBytes
		switch {
		case stop:
			return false
		case full && o.weight >= master.Small: // see overtake
			wait(o.keys(), waits)
			return false
		}
		if o.Kind == quorum.Survey {
			if len(l.queue.errands) > 0 { // it is about their keys, too
				stop = true
				return false
			}
			if l.clears = l.aloft(); l.clears {
				stop = true
				return false
			}
			b.alone = true
		} else if !l.goes(o.keys(), waits) {
			return false
		}
		b.ops, b.keys = append(b.ops, o), append(b.keys, o.keys()...)
		l.queue.sentSo.note(o)
		l.queue.unqueued(o)
		bytes += o.load()
		return true
	})
}

// goes tells that nothing about keys is on its way, nor waits. Else they wait, too.
func (l *lane) goes(keys []string, waits map[string]struct{}) bool {
	goes := !slices.ContainsFunc(keys, func(key string) bool {
		_, waiting := waits[key]
		return waiting || l.about[key] > 0
	})
	if !goes {
		wait(keys, waits)
	}
	return goes
}

func wait(keys []string, waits map[string]struct{}) {
	for _, key := range keys {
		waits[key] = struct{}{}
	}
}

// launch sends a batch on its way.
func (l *lane) launch(link *master.Link, b *batch) {
	if l.about == nil {
		l.about = make(map[string]int)
		l.answered = make(chan *batch, maxAbreast)
		l.timeout = time.NewTimer(time.Hour)
	}
	link.Overlap()
	for _, key := range b.keys {
		l.about[key]++
	}
	l.inAir = append(l.inAir, b)
	l.load(link, b)
	go func() {
		b.answers, b.proof, b.err = link.Converse(b.commands)
		l.answered <- b
	}()
}

// land casts the votes of a batch that was answered, or was not.
func (l *lane) land(link *master.Link, b *batch) error {
	i := slices.Index(l.inAir, b)
	l.inAir = slices.Delete(l.inAir, i, i+1)
	keys, n := b.keys, len(b.errands)+len(b.ops)
	err := l.settle(link, b)
	for _, key := range keys {
		if l.about[key]--; l.about[key] == 0 {
			delete(l.about, key)
		}
	}
	l.mu.Lock()
	l.queue.carried = max(l.queue.carried-n, 0)
	l.mu.Unlock()
	return err
}

// ground waits for the batches that were on their way on a link that is gone.
func (l *lane) ground(link *master.Link) {
	for l.aloft() {
		l.land(link, <-l.answered)
	}
}
