package master

import (
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum/decide"
)

// Lends tells that somebody else may send on the link while who has it Awaits what comes: not after Overlap.
func (l *Link) Lends() bool { return l.wire.lendable != nil && !l.overlaps() }

// longAgo is a deadline that ends whatever waits.
var longAgo = time.Unix(1, 0)

// Await waits until something comes, or the link is gone, or Rouse is called, or the time for an Exchange before is up,
// which is os.ErrDeadlineExceeded. When none of that is missed any more it calls entered; where that is false it does not
// wait.
func (l *Link) Await(entered func() bool) error { return l.wire.lendable.Await(entered) }

// Rouse ends an Await.
func (l *Link) Rouse() { l.framed.SetReadDeadline(longAgo) }

// Forgive forgets how long the last Exchange may take.
func (l *Link) Forgive() { l.framed.SetReadDeadline(time.Time{}) }

// Unasked is what is wrong with a link on which something has come that nobody has asked for.
func (l *Link) Unasked() error {
	_, err := l.framed.Read(make([]byte, 1))
	if err == nil {
		err = errSurplus
	}
	return err
}

// Lend sends commands, as Exchange does, for who Awaits what comes, and is to Receive it: it never waits itself. What the
// two do excludes each other, which is the caller's business.
func (l *Link) Lend(commands []rueidis.Completed) {
	commands = append(commands, AskProof...)
	l.framed.expect(len(commands))
	l.wire.lend(commands)
}

// Receive is the rest of an Exchange of n commands, which begins with Lend: sent is when.
func (l *Link) Receive(n int, sent time.Duration, room []decide.Answer) ([]decide.Answer, Proof, error) {
	answers, err := l.wire.received(n+len(AskProof), room[:0])
	return l.conversed(answers, sent, err)
}
