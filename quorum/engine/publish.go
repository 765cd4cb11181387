package engine

import (
	"redlock-proxy/quorum"
)

// Attend says who gets the messages from now on.
func (e *Engine) Attend(a quorum.Audience) { e.messages.Attend(a) }

// Publish delivers a message here and puts it into the lanes of all masters. It
// waits for none of them, and tells how many subscribers of this proxy got it.
func (e *Engine) Publish(channel, message string) (receivers int) {
	return e.messages.Publish(channel, message)
}

// carry puts an envelope into all lanes, and tells whether a quorum of them has taken it.
func (e *Engine) carry(envelope string) bool {
	taken := 0
	for _, l := range e.zero.lanes {
		if l.queue.publish(envelope) {
			taken++
		}
	}
	return taken >= quorum.QuorumOf(len(e.zero.lanes))
}

// announce publishes what a journaled script has published, once: each master
// has kept it back. A lane does so, and waits for nobody. It is what those masters have
// whose reply the caller gets; one of them may have had less to tell.
func (r ruling) announce() {
	from := map[quorum.Decision]quorum.Vote{quorum.Won: quorum.Granted, quorum.Contended: quorum.Refused}[r.votes.Decision()]
	var list []string
	for i := range r.Said {
		if from != 0 && r.votes.Vote(i) == from && len(r.Said[i].Journal.Published) > len(list) {
			list = r.Said[i].Journal.Published
		}
	}
	if len(list) > 0 {
		r.db.engine.messages.Announce(list)
	}
}

// The bounds of the messages that wait in one lane. One that does not fit is
// not sent to that master.
const (
	maxOutbox      = 4096
	maxOutboxBytes = 8 << 20
	// maxPublished is how many of them a batch may hold, so that locks do not
	// wait behind a flood of messages.
	maxPublished = maxBatch / 4
)

// bounds are those of an outbox: how many it holds, of how many bytes, and how many of them go
// with one batch.
type bounds struct{ most, bytes, inBatch int }

// Letters have an outbox of their own, so that they take no room from what clients publish.
var (
	messageBounds = bounds{maxOutbox, maxOutboxBytes, maxPublished}
	letterBounds  = bounds{256, 1 << 20, 16}
)

// outbox is the envelopes, or letters, that wait for a lane's next batch. The lane guards it.
type outbox struct {
	list  []string
	bytes int
}

func (o *outbox) put(text string, b bounds) bool {
	if len(o.list) >= b.most || len(o.list) > 0 && o.bytes+len(text) > b.bytes {
		return false
	}
	o.list = append(o.list, text)
	o.bytes += len(text)
	return true
}

// take removes up to n of them and appends them to a batch's errands.
func (o *outbox) take(errands []errand, n int, b bounds) []errand {
	n = min(n, len(o.list), b.inBatch)
	for _, text := range o.list[:n] {
		o.bytes -= len(text)
		errands = append(errands, envelope(text))
	}
	clear(o.list[:n])
	if o.list = o.list[n:]; len(o.list) == 0 {
		o.list = nil
	}
	return errands
}

// publishes tells that something is to be published. mu is held, as by takeOut.
func (q *queue) publishes() bool { return len(q.outbox.list)+len(q.letters.list) > 0 }

// takeOut appends what goes with the next batch to its errands, which become so many at most.
func (q *queue) takeOut(errands []errand, most int) []errand {
	errands = q.outbox.take(errands, most-len(errands), messageBounds)
	return q.letters.take(errands, most-len(errands), letterBounds)
}

// publish puts an envelope into the lane's next batch. It is false if that
// cannot be: the master will not carry the message.
func (q *queue) publish(text string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open || !q.outbox.put(text, messageBounds) {
		return false
	}
	q.rouse()
	return true
}

// post puts a letter into the lane's next batch, unless the master cannot carry it now.
func (q *queue) post(letter string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open && q.letters.put(letter, letterBounds) {
		q.rouse()
	}
}
