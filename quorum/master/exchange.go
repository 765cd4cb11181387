package master

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
)

// Proof is what ends a batch: which nonce the master's marker has, and what its
// clock shows. It also proves that the answers belong to the commands: if the
// master had answered one command twice or not at all, it would not stand there.
type Proof struct {
	Nonce marker.Nonce // "" if there is no marker
	Clock clock.Sample
}

// AskProof are the commands that ask for it. Pinned, rueidis does not take them for its own.
var AskProof = []rueidis.Completed{
	rueidis.Builder{}.Arbitrary("GETRANGE", quorum.MarkerKey, "0", marker.LastOfNonce).Build().Pin(),
	AskTime,
}

// AskTime asks for the master's time; TimeOf reads what it answers.
var AskTime = rueidis.Builder{}.Arbitrary("TIME").Build().Pin()

// Command makes a command for one of the next batches.
func (l *Link) Command(argv ...string) rueidis.Completed {
	return l.client.B().Arbitrary(argv...).Build()
}

// Exchange sends commands as one batch, with the proof at its end, and returns the
// answers, in room if that is large enough, and the proof. What the answers take is to be given
// back once they are judged, see Give and CostOf. An error means that any of the commands may have been
// carried out or not, and that the link is of no more use, as where no answer comes in time.
func (l *Link) Exchange(commands []rueidis.Completed, room []decide.Answer) (answers []decide.Answer, p Proof, err error) {
	if !l.overlaps() {
		return l.Converse(commands, room)
	}
	return l.timed(commands, room)
}

// timed is Exchange after Overlap.
func (l *Link) timed(commands []rueidis.Completed, room []decide.Answer) (answers []decide.Answer, p Proof, err error) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answers, p, err = l.Converse(commands, room)
	}()
	timeout := time.NewTimer(l.patience)
	defer timeout.Stop()
	for {
		select {
		case <-answered:
			return answers, p, err
		case <-timeout.C:
		}
		if left := l.patience - time.Since(l.framed.heard()); left > 0 {
			timeout.Reset(left)
			continue
		}
		l.framed.Close()
		<-answered
		return nil, p, os.ErrDeadlineExceeded
	}
}

// Overlap lets several batches be on their way at once, by Converse. Whoever waits for an answer
// sets the time from here on, and Interrupts the link when that is over.
func (l *Link) Overlap() {
	if !l.overlaps() {
		l.wire.hurry()
		l.ctx, l.end = context.WithCancel(context.Background())
		l.framed.patience.Store(0)
		l.framed.SetDeadline(time.Time{})
	}
}

func (l *Link) overlaps() bool { return l.ctx.Done() != nil }

// Converse is Exchange by somebody for whom others set the time. After Overlap several goroutines
// may converse at once: rueidis sees to it that each gets its own answers.
func (l *Link) Converse(commands []rueidis.Completed, room []decide.Answer) (answers []decide.Answer, p Proof, err error) {
	commands = append(commands, AskProof...)
	l.framed.expect(len(commands))
	p.Clock.Sent = l.boot()
	l.wire.hurry()
	if l.overlaps() {
		answers, err = l.multiplexed(commands, room[:0])
	} else {
		answers, err = l.wire.exchange(commands, room[:0])
	}
	return l.conversed(answers, p.Clock.Sent, err)
}

// conversed is what Converse makes of the answers, with the proof's.
func (l *Link) conversed(answers []decide.Answer, sent time.Duration, err error) ([]decide.Answer, Proof, error) {
	var p Proof
	p.Clock.Sent, p.Clock.Read = sent, l.boot()
	if err != nil {
		return nil, p, err
	}
	l.leftOut(answers)
	last := len(answers) - len(AskProof)
	mark, end := &answers[last], &answers[last+1]
	l.framed.give(CostOf(mark) + CostOf(end))
	now, ok := TimeOf(*end)
	switch {
	case end.Kind == quorum.FailureReply:
		return nil, p, Trouble(end.Str)
	case !ok:
		return nil, p, ErrGarbage
	}
	p.Clock.At = time.Duration(now.UnixNano())
	// An error is as good as no marker: something else is in its place.
	if mark.Kind == quorum.BulkReply {
		p.Nonce = marker.Nonce(mark.Str)
	}
	return answers[:last], p, nil
}

// multiplexed is for wire.exchange after Overlap.
func (l *Link) multiplexed(commands []rueidis.Completed, room []decide.Answer) (answers []decide.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("rueidis: %v", p)
		}
	}()
	answers = room
	for _, result := range l.client.DoMulti(l.ctx, commands...) {
		if err := result.NonRedisError(); err != nil {
			return nil, err
		}
		m, _ := result.ToMessage()
		answers = append(answers, newAnswer(m))
	}
	return answers, nil
}

// leftOut makes an answer of which something was left out, for want of room, an error as a whole: see
// decide.Answer.LeftOut. The rest of it is given back at once.
func (l *Link) leftOut(answers []decide.Answer) {
	if !l.framed.leavesOut.Load() {
		return
	}
	for i := range answers {
		a := &answers[i]
		if n := a.LeftOut(); n > 0 {
			l.framed.give(CostOf(a))
			*a = decide.Answer{Kind: quorum.FailureReply, Str: decide.SaysTooLong(n)}
		}
	}
}

// Ask is Exchange by somebody who judges the few answers before he asks again.
func (l *Link) Ask(commands ...rueidis.Completed) ([]decide.Answer, Proof, error) {
	answers, p, err := l.Exchange(commands, nil)
	for i := range answers {
		l.framed.give(CostOf(&answers[i]))
	}
	return answers, p, err
}

// Do sends one command as a batch of its own. An error that the master answers is an answer.
func (l *Link) Do(argv ...string) (decide.Answer, Proof, error) {
	answers, p, err := l.Ask(l.Command(argv...))
	if err != nil {
		return decide.Answer{}, p, err
	}
	return answers[0], p, nil
}
