package master

import (
	"bufio"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/netpoll"
)

// An exchange in parts, by who does not wait for it, but for several links at once: he Sends,
// looks at what HasCome as often as a Watch tells of the link, and Receives when all has.
// He may leave the rest to somebody who waits for it, who Receives.

// socket is a connection that can do so.
type socket interface {
	FD() int
	NoWait(yes bool)
	Forget()
}

// longCalm is after how many exchanges that nobody waited for Go's poller forgets the connection: it costs
// five microseconds to have it do so and come back.
const longCalm = 8

// Sends tells that the link can be used so.
func (l *Link) Sends() bool { return l.wire.socket != nil && !l.overlaps() }

// Send sends commands, with the proof at their end. An error is as one of Exchange.
func (l *Link) Send(commands []rueidis.Completed) error {
	commands = append(commands, AskProof...)
	l.framed.expect(len(commands))
	l.wire.rest()
	return l.wire.send(commands)
}

// ErrTooMuch is where more has come than fits into memory before it is received.
var ErrTooMuch = bufio.ErrBufferFull

// HasCome reads what has come, and tells whether that is all. ErrTooMuch is not the end of the link, and
// there will be no other word of the rest.
func (l *Link) HasCome() (all bool, err error) {
	for l.framed.expected.Load() > 0 {
		switch _, err := l.wire.in.Peek(l.wire.in.Buffered() + 1); err {
		case nil:
		case netpoll.ErrNothing:
			return false, nil
		default:
			return false, err
		}
	}
	return true, nil
}

// Receive is the rest of an Exchange of n commands that were sent at a time by our clock, or a little later.
func (l *Link) Receive(n int, sent time.Duration, room []decide.Answer) ([]decide.Answer, Proof, error) {
	answers, err := l.wire.received(n+len(AskProof), room[:0])
	return l.conversed(answers, sent, err)
}

// Await is Receive where it is waited for what has not come yet.
func (l *Link) Await(n int, sent time.Duration, room []decide.Answer) ([]decide.Answer, Proof, error) {
	l.wire.hurry()
	l.framed.SetDeadline(time.Now().Add(l.patience))
	return l.Receive(n, sent, room)
}

// rest has nobody wait on the connection, and so no deadline end that.
func (w *wire) rest() {
	switch w.calm++; w.calm {
	case 1:
		w.conn.patience.Store(0)
		w.conn.SetDeadline(time.Time{})
		w.socket.NoWait(true)
	case longCalm:
		w.socket.Forget()
	}
}

// hurry ends that. Who waits sets the time.
func (w *wire) hurry() {
	if w.calm > 0 {
		w.calm = 0
		w.conn.patience.Store(int64(w.patience))
		w.socket.NoWait(false)
	}
}
