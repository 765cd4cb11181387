package quorum

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"sync/atomic"
)

// Publish and subscribe among the clients of all proxies of the same masters.
//
// A message goes to the subscribers of this proxy at once, and to the other
// proxies in an envelope that is published on every master that can be reached.
// Each proxy is subscribed to all masters and delivers the first copy that it
// gets. A message that a quorum of masters took reaches every proxy that a
// quorum of them is heard by: the two have a master in common.
//
// It is best effort, as in Redis. What one proxy publishes arrives in its order
// at every other one, as long as no master leaves anything out; messages of
// different proxies arrive at different proxies in different orders.

// Audience is who gets the messages: the subscribers of this proxy. Both methods
// must neither block nor call the engine.
type Audience interface {
	// Deliver gives a message to all who subscribed to its channel or to a
	// pattern that matches it, and tells how many times. It is called by one
	// goroutine at a time.
	Deliver(channel, message string) (receivers int)
	// Flush is called after Deliver: what that gathered should now be sent.
	Flush()
}

// messages is the engine's part in publish and subscribe.
type messages struct {
	sender    string
	published atomic.Uint64
	short     atomic.Uint64
	received  atomic.Uint64

	// mu is held while a message is put into the lanes and delivered, so that
	// all subscribers of this proxy get messages in one order, and all lanes
	// this proxy's in the same.
	mu       sync.Mutex // guards what follows
	audience Audience
	number   uint64 // of the latest message of ours
	seen     seen
}

func newSender() string {
	var id [8]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// Attend says who gets the messages from now on.
func (e *Engine) Attend(a Audience) {
	e.messages.mu.Lock()
	defer e.messages.mu.Unlock()
	e.messages.audience = a
}

// Publish delivers a message here and puts it into the lanes of all masters. It
// waits for none of them, and tells how many subscribers of this proxy got it.
func (e *Engine) Publish(channel, message string) (receivers int) {
	m := &e.messages
	m.published.Add(1)
	m.mu.Lock()
	m.number++
	text := envelope{m.sender, m.number, channel, message}.String()
	taken := 0
	if len(text) <= maxEnvelope {
		for _, l := range e.lanes {
			if l.publish(text) {
				taken++
			}
		}
	}
	a := m.audience
	if a != nil {
		receivers = a.Deliver(channel, message)
	}
	m.mu.Unlock()
	if taken < quorumOf(len(e.lanes)) {
		m.short.Add(1)
	}
	if receivers > 0 {
		a.Flush()
	}
	return receivers
}

// announce publishes what a journaled script has published, once: each master
// has kept it back. It is what those masters have whose reply the caller gets; one
// of them may have had less to tell.
func (e *Engine) announce(o *op, c counted) {
	from := map[Decision]Vote{Won: Granted, Contended: Refused}[c.decision()]
	var list []string
	for i := range o.said {
		if from != 0 && c.vote(i) == from && len(o.said[i].journal.published) > len(list) {
			list = o.said[i].journal.published
		}
	}
	if e.root != nil {
		e = e.root
	}
	for ; len(list) > 1; list = list[2:] {
		e.Publish(list[0], list[1])
	}
}

// receive delivers a message that came from a master, unless it has been. If it
// was, flush is who gathered it.
func (m *messages) receive(text string) (flush Audience) {
	v, ok := parseEnvelope(text)
	if !ok || v.sender == m.sender {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.seen.first(v.sender, v.number) {
		return nil
	}
	m.received.Add(1)
	if m.audience == nil || m.audience.Deliver(v.channel, v.message) == 0 {
		return nil
	}
	return m.audience
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
		errands = append(errands, errand{envelope: text})
	}
	clear(o.list[:n])
	if o.list = o.list[n:]; len(o.list) == 0 {
		o.list = nil
	}
	return errands
}

// publish puts an envelope into the lane's next batch. It is false if that
// cannot be: the master will not carry the message.
func (l *lane) publish(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || !l.outbox.put(text) {
		return false
	}
	l.rouse()
	return true
}
