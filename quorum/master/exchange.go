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
// answers and the proof. An error means that any of the commands may have been
// carried out or not, and that the link is of no more use, as where no answer comes in time.
func (l *Link) Exchange(commands []rueidis.Completed) (answers []rueidis.RedisResult, p Proof, err error) {
	if l.ctx.Done() == nil {
		return l.Converse(commands)
	}
	return l.timed(commands)
}

// timed is Exchange where rueidis does not keep the time.
func (l *Link) timed(commands []rueidis.Completed) (answers []rueidis.RedisResult, p Proof, err error) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answers, p, err = l.Converse(commands)
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
	if l.ctx.Done() == nil {
		l.ctx, l.end = context.WithCancel(context.Background())
		l.framed.patience.Store(0)
	}
}

// Converse is Exchange by somebody for whom others set the time, if rueidis does not. After
// Overlap several goroutines may converse at once.
func (l *Link) Converse(commands []rueidis.Completed) (answers []rueidis.RedisResult, p Proof, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("rueidis: %v", p)
		}
	}()
	commands = append(commands, AskProof...)
	l.framed.expect(len(commands))
	p.Clock.Sent = l.boot()
	answers = l.client.DoMulti(l.ctx, commands...)
	p.Clock.Read = l.boot()
	for _, a := range answers {
		if err := a.NonRedisError(); err != nil {
			return nil, p, err
		}
	}
	last := len(answers) - len(AskProof)
	cost := 0
	mark, end := l.Read(answers[last], &cost), l.Read(answers[last+1], &cost)
	l.framed.give(cost)
	now, ok := TimeOf(end)
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

// Read takes over an answer, and adds to cost what is to be given back once it is judged, by Give.
// One of which something was left out, for want of room, is an error as a whole: see Answer.LeftOut.
func (l *Link) Read(r rueidis.RedisResult, cost *int) decide.Answer {
	m, _ := r.ToMessage()
	a := newAnswer(m)
	*cost += costOf(&a)
	if l.framed.leavesOut.Load() {
		if n := a.LeftOut(); n > 0 {
			return decide.Answer{Kind: quorum.FailureReply, Str: decide.SaysTooLong(n)}
		}
	}
	return a
}

// ReadAll is Read of the few answers of somebody who has judged them before the next ones.
func (l *Link) ReadAll(results []rueidis.RedisResult) []decide.Answer {
	answers, cost := make([]decide.Answer, len(results)), 0
	for i, r := range results {
		answers[i] = l.Read(r, &cost)
	}
	l.framed.give(cost)
	return answers
}

// Do sends one command as a batch of its own. An error that the master answers is an answer.
func (l *Link) Do(argv ...string) (decide.Answer, Proof, error) {
	answers, p, err := l.Exchange([]rueidis.Completed{l.Command(argv...)})
	if err != nil {
		return decide.Answer{}, p, err
	}
	return l.ReadAll(answers)[0], p, nil
}
