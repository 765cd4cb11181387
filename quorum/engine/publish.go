package engine

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"

	"redlock-proxy/quorum"
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

// messages is the engine's part in publish and subscribe.
type messages struct {
	sender    string
	published atomic.Uint64
	short     atomic.Uint64
	received  atomic.Uint64

	// mu is held while a message is put into the lanes and into the line of those to be
	// delivered here, so that all subscribers of this proxy get messages in one order, and
	// all lanes this proxy's in the same. Lanes wait for it: nothing long is done with it.
	mu       sync.Mutex // guards what follows
	audience quorum.Audience
	number   uint64 // of the latest message of ours
	seen     seen
	line     []delivery
	bytes    int       // of the line
	closed   bool      // nothing is delivered any more
	changed  sync.Cond // any of the three above has
}

// delivery is a message that waits to be delivered to the subscribers of this proxy.
type delivery struct {
	channel, message string
	told             chan int // if not nil, who waits for how many got it
}

// The bounds of the messages that wait to be delivered here.
const (
	maxLine      = 4096
	maxLineBytes = 8 << 20

	// deliverAtOnce is how many are delivered before they are sent.
	deliverAtOnce = 16
)

// full tells that there is no room in the line. mu is held, as by awaitRoom and add.
func (m *messages) full() bool {
	return !m.closed && (len(m.line) >= maxLine || m.bytes >= maxLineBytes)
}

func (m *messages) awaitRoom() {
	for m.full() {
		m.changed.Wait()
	}
}

// add puts a message into the line. It is false if nobody will get it.
func (m *messages) add(d delivery) bool {
	if m.closed || m.full() {
		return false
	}
	m.line = append(m.line, d)
	m.bytes += len(d.channel) + len(d.message)
	m.changed.Broadcast()
	return true
}

// take waits for messages and takes some of them. It is false when there will be none.
func (m *messages) take() (list []delivery, to quorum.Audience, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.line) == 0 && !m.closed {
		m.changed.Wait()
	}
	n := min(len(m.line), deliverAtOnce)
	list = slices.Clone(m.line[:n])
	clear(m.line[:n])
	if m.line = m.line[n:]; len(m.line) == 0 {
		m.line = nil
	}
	for _, d := range list {
		m.bytes -= len(d.channel) + len(d.message)
	}
	m.changed.Broadcast()
	return list, m.audience, n > 0
}

// deliver gives the messages of the line to the audience, until it is closed and empty. It
// has a goroutine of its own: what a channel is matched with clients decide, and a lane
// that did so would keep everybody's locks waiting.
func (m *messages) deliver() {
	for {
		list, to, ok := m.take()
		if !ok {
			return
		}
		receivers := make([]int, len(list))
		if to != nil {
			for i, d := range list {
				receivers[i] = to.Deliver(d.channel, d.message)
			}
			to.Flush()
		}
		for i, d := range list {
			if d.told != nil {
				d.told <- receivers[i]
			}
		}
	}
}

func (m *messages) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.changed.Broadcast()
}

func newSender() string {
	var id [8]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// Attend says who gets the messages from now on.
func (e *Engine) Attend(a quorum.Audience) {
	e.messages.mu.Lock()
	defer e.messages.mu.Unlock()
	e.messages.audience = a
}

// Publish delivers a message here and puts it into the lanes of all masters. It
// waits for none of them, and tells how many subscribers of this proxy got it.
func (e *Engine) Publish(channel, message string) (receivers int) {
	m := &e.messages
	d := delivery{channel, message, make(chan int, 1)}
	m.mu.Lock()
	m.awaitRoom()
	added := e.send(d)
	m.mu.Unlock()
	if !added {
		return 0
	}
	return <-d.told
}

// send puts a message into the lanes and the line. It is false if the latter cannot be.
// mu is held.
func (e *Engine) send(d delivery) (added bool) {
	m := &e.messages
	m.published.Add(1)
	m.number++
	text := envelope{m.sender, m.number, d.channel, d.message}.String()
	taken := 0
	if len(text) <= maxEnvelope {
		for _, l := range e.lanes {
			if l.publish(text) {
				taken++
			}
		}
	}
	added = m.add(d)
	if taken < quorum.QuorumOf(len(e.lanes)) || !added {
		m.short.Add(1)
	}
	return added
}

// announce publishes what a journaled script has published, once: each master
// has kept it back. A lane does so, and waits for nobody: what the line has no room for is
// not delivered here. It is what those masters have whose reply the caller gets; one
// of them may have had less to tell.
func (e *Engine) announce(o *op, c counted) {
	from := map[quorum.Decision]quorum.Vote{quorum.Won: quorum.Granted, quorum.Contended: quorum.Refused}[c.decision()]
	var list []string
	for i := range o.said {
		if from != 0 && c.vote(i) == from && len(o.said[i].journal.published) > len(list) {
			list = o.said[i].journal.published
		}
	}
	if e.root != nil {
		e = e.root
	}
	if len(list) < 2 {
		return
	}
	e.messages.mu.Lock()
	defer e.messages.mu.Unlock()
	for ; len(list) > 1; list = list[2:] {
		e.send(delivery{channel: list[0], message: list[1]})
	}
}

// receive has a message delivered that came from a master, unless it has been. It waits for
// room first, so that all that masters tell of it wait, and its order is kept.
func (m *messages) receive(text string) {
	v, ok := parseEnvelope(text)
	if !ok || v.sender == m.sender {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.awaitRoom()
	if m.seen.first(v.sender, v.number) {
		m.received.Add(1)
		m.add(delivery{channel: v.channel, message: v.message})
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
