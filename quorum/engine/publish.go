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

// outbox is the envelopes that wait for a lane's next batch. The lane guards it.
type outbox struct {
	list  []string
	bytes int
}

func (o *outbox) put(text string) bool {
	if len(o.list) >= maxOutbox || len(o.list) > 0 && o.bytes+len(text) > maxOutboxBytes {
		return false
	}
	o.list = append(o.list, text)
	o.bytes += len(text)
	return true
}

// take removes up to n envelopes and appends them to a batch's errands.
func (o *outbox) take(errands []errand, n int) []errand {
	n = min(n, len(o.list), maxPublished)
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

// publish puts an envelope into the lane's next batch. It is false if that
// cannot be: the master will not carry the message.
func (q *queue) publish(text string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.open || !q.outbox.put(text) {
		return false
	}
	q.rouse()
	return true
}
