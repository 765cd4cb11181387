package messages

import (
	"slices"
	"sync"
	"sync/atomic"

	"redlock-proxy/quorum"
)

// Bus is a proxy's part in publish and subscribe. Its methods may be called by several
// goroutines, Run by one.
type Bus struct {
	sender    string
	carry     func(envelope string) bool
	published atomic.Uint64
	short     atomic.Uint64
	received  atomic.Uint64

	// mu is held while a message is carried and put into the line of those to be delivered
	// here, so that all subscribers of this proxy get messages in one order, and all masters
	// this proxy's in the same. Lanes wait for it: nothing long is done with it.
	mu       sync.Mutex // guards what follows
	audience quorum.Audience
	number   uint64 // of the latest message of ours
	copies   copies
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

// New is the bus of the proxy that calls itself sender, which no other does, not even itself
// after a restart. carry hands an envelope on to all masters that can be reached, waits for
// none of them, and tells whether a quorum is among them. It is called with the bus locked.
func New(sender string, carry func(envelope string) bool) *Bus {
	b := &Bus{sender: sender, carry: carry}
	b.changed.L = &b.mu
	return b
}

// Attend says who gets the messages from now on.
func (b *Bus) Attend(a quorum.Audience) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.audience = a
}

// Publish delivers a message here and has it carried to the other proxies. It tells how many
// subscribers of this proxy got it, for which it waits.
func (b *Bus) Publish(channel, message string) (receivers int) {
	d := delivery{channel, message, make(chan int, 1)}
	b.mu.Lock()
	b.awaitRoom()
	added := b.send(d)
	b.mu.Unlock()
	if !added {
		return 0
	}
	return <-d.told
}

// Announce publishes a list of channels, each followed by its message. It waits for nobody:
// what the line has no room for is not delivered here.
func (b *Bus) Announce(list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; len(list) > 1; list = list[2:] {
		b.send(delivery{channel: list[0], message: list[1]})
	}
}

// Receive has a message delivered that a master has sent on Channel, unless it has been. It
// waits for room first, so that all that masters tell of it wait, and its order is kept.
func (b *Bus) Receive(text string) {
	v, ok := parseEnvelope(text)
	if !ok || v.sender == b.sender {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaitRoom()
	if b.copies.first(v.sender, v.number) {
		b.received.Add(1)
		b.add(delivery{channel: v.channel, message: v.message})
	}
}

// Run gives the messages of the line to the audience, until the bus is closed and the line
// empty. It has a goroutine of its own: what a channel is matched with clients decide, and a
// lane that did so would keep everybody's locks waiting.
func (b *Bus) Run() {
	for {
		list, to, ok := b.take()
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

// Close has nothing taken into the line any more, and Run return.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Broadcast()
}

// Counts are how many messages were published here, how many of those a quorum of masters did
// not take or nobody here could be given, and how many were received from other proxies.
func (b *Bus) Counts() (published, short, received uint64) {
	return b.published.Load(), b.short.Load(), b.received.Load()
}

// send has a message carried and puts it into the line. It is false if the latter cannot be.
// mu is held, as by what follows but take.
func (b *Bus) send(d delivery) (added bool) {
	b.published.Add(1)
	b.number++
	text := envelope{b.sender, b.number, d.channel, d.message}.String()
	carried := len(text) <= MaxEnvelope && b.carry(text)
	added = b.add(d)
	if !carried || !added {
		b.short.Add(1)
	}
	return added
}

// full tells that there is no room in the line.
func (b *Bus) full() bool {
	return !b.closed && (len(b.line) >= maxLine || b.bytes >= maxLineBytes)
}

func (b *Bus) awaitRoom() {
	for b.full() {
		b.changed.Wait()
	}
}

// add puts a message into the line. It is false if nobody will get it.
func (b *Bus) add(d delivery) bool {
	if b.closed || b.full() {
		return false
	}
	b.line = append(b.line, d)
	b.bytes += len(d.channel) + len(d.message)
	b.changed.Broadcast()
	return true
}

// take waits for messages and takes some of them. It is false when there will be none.
func (b *Bus) take() (list []delivery, to quorum.Audience, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.line) == 0 && !b.closed {
		b.changed.Wait()
	}
	n := min(len(b.line), deliverAtOnce)
	list = slices.Clone(b.line[:n])
	clear(b.line[:n])
	if b.line = b.line[n:]; len(b.line) == 0 {
		b.line = nil
	}
	for _, d := range list {
		b.bytes -= len(d.channel) + len(d.message)
	}
	b.changed.Broadcast()
	return list, b.audience, n > 0
}
