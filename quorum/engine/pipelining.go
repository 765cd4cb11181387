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
// with its own proof. No two of them are about keys of one tag, so that it does not matter in
// which order the master gets them: what is asked about a tag that is on its way waits,
// with all that was asked about it later. What is about all keys goes alone.
//
// It costs processor time to send the same commands in more batches, on both sides, so
// it is not done for a master that is near.

const (
	// perBatch of the least round trip allows one batch more.
	perBatch = 500 * time.Microsecond
	// maxPipelined are on their way at once: one every eighth of a round trip.
	maxPipelined = 8
	// minTrips tell how far a master is.
	minTrips = 32
)

// pipelined are the batches on their way to a master that is far. The lane's goroutine
// alone uses them.
type pipelined struct {
	answered chan *batch    // has room for all
	inAir    []*batch       // in the order in which they were sent
	about    map[string]int // how many are about a tag
	clears   bool           // a survey waits, so nothing more is sent before it
	timeout  *time.Timer
}

// most is how many batches may be on their way on a link.
func (s *sender) most(link *master.Link) int {
	least, trips := link.RoundTrip()
	if trips < minTrips {
		return 1
	}
	return min(1+int(least/perBatch), maxPipelined)
}

// aloft tells that batches are on their way.
func (s *sender) aloft() bool { return len(s.inAir) > 0 }

// carry takes one step: it sends a batch, or takes in the answers to one.
func (s *sender) carry(ctx context.Context, link *master.Link) error {
	most := s.most(link)
	if most == 1 && !s.aloft() {
		b, err := s.queue.take(ctx)
		if err != nil {
			return err
		}
		return s.exchange(link, b)
	}
	lands := s.keeper.doubt || s.connector.discharged() || s.keeper.inspects(s.db.Boot())
	if len(s.inAir) < most && !(lands && s.aloft()) {
		if b := s.takeSome(); b != nil {
			s.launch(link, b)
			return nil
		}
	}
	return s.await(ctx, link)
}

// await waits until a batch is answered or, if there was nothing to send, there is.
func (s *sender) await(ctx context.Context, link *master.Link) error {
	var timeout <-chan time.Time
	if s.aloft() {
		since := s.inAir[0].began
		if heard := link.Heard(); heard.After(since) {
			since = heard
		}
		s.timeout.Reset(time.Until(since.Add(s.db.MasterTimeout)))
		timeout = s.timeout.C
	}
	var err error
	select {
	case <-s.queue.wake:
		if s.aloft() {
			return nil
		}
		b := s.takeSome()
		if b == nil {
			b = s.newBatch(nil, nil) // a probe
		}
		s.launch(link, b)
	case b := <-s.answered:
		err = s.land(link, b)
	case <-timeout:
		if !link.Heard().Add(s.db.MasterTimeout).After(time.Now()) {
			err = os.ErrDeadlineExceeded
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.queue.rest()
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
func (s *sender) takeSome() *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.aloft() {
		s.queue.carried, s.clears = 0, false
	} else if s.clears || s.inAir[0].alone {
		return nil
	}
	b := s.newBatch(nil, nil)
	b.ordinal = s.queue.sentSo.last
	waits := make(map[string]struct{})
	s.takeErrands(b, waits)
	s.takeOps(b, waits)
	n := len(b.errands) + len(b.ops)
	if n == 0 && (s.aloft() || !s.keeper.outdated()) { // see take
		s.spareBatch, s.queue.idle = b, true
		return nil
	}
	s.queue.flying = append(s.queue.flying, b)
	s.queue.carried += n
	return b
}

// takeErrands takes errands and messages, and notes the tags of those that wait. mu is held.
func (s *sender) takeErrands(b *batch, waits map[string]struct{}) {
	weight := 0
	s.queue.errands = slices.DeleteFunc(s.queue.errands, func(e errand) bool {
		fits := len(b.errands) == 0 || len(b.errands) < maxBatch && weight+e.room() <= maxBatchBytes
		if !fits {
			wait(e.about(), waits) // nothing about its key goes before it, see overtake
		}
		goes := fits && s.goes(e.about(), waits)
		if goes && s.queue.leaves(e) {
			b.errands, b.tags = append(b.errands, e), appendTags(b.tags, e.about())
			weight += e.room()
		}
		return goes
	})
	if s.queue.publishes() && !slices.ContainsFunc(s.inAir, func(b *batch) bool { return b.messages }) {
		n := len(b.errands)
		b.errands = s.queue.takeOut(b.errands, maxBatch)
		b.messages = len(b.errands) > n
	}
}

// takeOps takes ops, but for those about tags of what waits. mu is held.
func (s *sender) takeOps(b *batch, waits map[string]struct{}) {
	stop, full, bytes := false, false, 0
	s.queue.ops = slices.DeleteFunc(s.queue.ops, func(o *op) bool {
		stop = stop || len(b.errands)+len(b.ops) >= maxBatch || full && o.kind().everyKey
		full = full || len(b.ops) > 0 && bytes+o.load() > maxBatchBytes
		switch {
		case stop:
			return false
		case full && o.weight >= master.Small: // see overtake
			wait(o.keys(), waits)
			return false
		}
		if o.kind().everyKey {
			if len(s.queue.errands) > 0 { // it is about their keys, too
				stop = true
				return false
			}
			if s.clears = s.aloft(); s.clears {
				stop = true
				return false
			}
			b.alone = true
		} else if !s.goes(o.keys(), waits) {
			return false
		}
		b.ops, b.tags = append(b.ops, o), appendTags(b.tags, o.keys())
		s.queue.sentSo.note(o)
		s.queue.unqueued(o)
		bytes += o.load()
		return true
	})
}

// goes tells that nothing about the tags of keys is on its way, nor waits. Else they wait, too.
func (s *sender) goes(keys []string, waits map[string]struct{}) bool {
	goes := !waiting(keys, waits) && !slices.ContainsFunc(keys, func(key string) bool { return s.about[quorum.Tag(key)] > 0 })
	if !goes {
		wait(keys, waits)
	}
	return goes
}

// wait has what is about the tags of keys wait.
func wait(keys []string, waits map[string]struct{}) {
	for _, key := range keys {
		waits[quorum.Tag(key)] = struct{}{}
	}
}

// waiting tells that something about the tag of a key waits.
func waiting(keys []string, waits map[string]struct{}) bool {
	return len(waits) > 0 && slices.ContainsFunc(keys, func(key string) bool { _, is := waits[quorum.Tag(key)]; return is })
}

func appendTags(tags, keys []string) []string {
	for _, key := range keys {
		tags = append(tags, quorum.Tag(key))
	}
	return tags
}

// launch sends a batch on its way.
func (s *sender) launch(link *master.Link, b *batch) {
	if s.about == nil {
		s.about = make(map[string]int)
		s.answered = make(chan *batch, maxPipelined)
		s.timeout = time.NewTimer(time.Hour)
	}
	link.Overlap()
	for _, tag := range b.tags {
		s.about[tag]++
	}
	s.inAir = append(s.inAir, b)
	s.load(link, b, s.db.Boot())
	go func() {
		b.answers, b.proof, b.err = link.Converse(b.commands, b.answers)
		s.answered <- b
	}()
}

// land casts the votes of a batch that was answered, or was not.
func (s *sender) land(link *master.Link, b *batch) error {
	i := slices.Index(s.inAir, b)
	s.inAir = slices.Delete(s.inAir, i, i+1)
	tags, n := b.tags, len(b.errands)+len(b.ops)
	err := s.settle(link, b, s.db.Boot())
	for _, tag := range tags {
		if s.about[tag]--; s.about[tag] == 0 {
			delete(s.about, tag)
		}
	}
	s.mu.Lock()
	s.queue.carried = max(s.queue.carried-n, 0)
	s.mu.Unlock()
	return err
}

// ground waits for the batches that were on their way on a link that is gone.
func (s *sender) ground(link *master.Link) {
	for s.aloft() {
		s.land(link, <-s.answered)
	}
}
