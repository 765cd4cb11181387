package engine

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

// Subscribe makes sure that messages are heard before a client is told that it
// has subscribed: whatever is published after that must reach it, or a client
// that waits for a lock would sleep through its release. The result is Won when
// the subscriptions to a quorum of masters stand, and Unavailable if that takes
// longer than AcquireTimeout.
func (e *Engine) Subscribe() quorum.Result {
	n := len(e.lanes)
	r := quorum.Result{Decision: quorum.Unavailable, Needed: quorum.QuorumOf(n), Masters: n}
	patience := time.NewTimer(e.AcquireTimeout)
	defer patience.Stop()
	for {
		standing, changed := e.subscriptions.Look()
		if r.Voted = standing; standing >= r.Needed {
			r.Decision = quorum.Won
			return r
		}
		select {
		case <-changed:
		case <-patience.C:
			return r
		}
		if e.closing.Load() {
			return r
		}
	}
}

// errAnotherServer ends a subscription to a server that no command goes to: one
// that was replaced, or that is configured twice and has one vote only.
var errAnotherServer = errors.New("it is not the server that commands go to")

// listen is the life of the subscription to master i. It ends when ctx does.
func (e *Engine) listen(ctx context.Context, i int) {
	select {
	case <-e.tried:
	case <-ctx.Done():
	}
	log := e.lanes[i].log
	deaf := false // trouble was logged
	for ctx.Err() == nil {
		s, err := e.subscribe(ctx, i)
		if err == nil {
			if deaf {
				deaf = false
				log.Info("master's messages are heard again")
			}
			e.subscriptions.Add(1)
			err = s.hear(e, i)
			e.subscriptions.Add(-1)
			s.end()
			log.Debug("subscription ended", "reason", reasonOf(err))
		} else if !deaf && e.claimed(i) != "" && ctx.Err() == nil {
			// Of a master that is down altogether the lane tells.
			deaf = true
			log.Warn("master's messages cannot be heard", "reason", reasonOf(err))
		}
		pause(ctx, e.ProbeInterval/8+rand.N(e.ProbeInterval/8))
	}
}

// subscription is a connection of its own to one master, on which it sends what
// is published on messages.Channel.
type subscription struct {
	conn  net.Conn
	gate  gate
	runID string
	stop  func() bool // of what closes conn when the engine does
}

// subscribe connects to master i, finds out who it is, and subscribes.
func (e *Engine) subscribe(ctx context.Context, i int) (*subscription, error) {
	m := &e.Masters[i]
	dialing, cancel := context.WithTimeout(ctx, e.ConnectTimeout)
	defer cancel()
	conn, err := m.connect(dialing)
	if err != nil {
		return nil, err
	}
	s := &subscription{conn: conn, stop: context.AfterFunc(ctx, func() { conn.Close() })}
	err = s.begin(m)
	if err == nil && s.runID != e.claimed(i) {
		err = errAnotherServer
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *subscription) end() {
	s.stop()
	s.conn.Close()
}

func (s *subscription) begin(m *Master) error {
	conn, err := m.secure(s.conn)
	if err != nil {
		return err
	}
	s.conn = conn
	s.gate = gate{w: conn, r: bufio.NewReaderSize(conn, 16<<10), longest: messages.MaxEnvelope}
	if user, password := m.credentials(); password != "" {
		if err := s.gate.authenticate(user, password); err != nil {
			return err
		}
	}
	answers, err := s.gate.ask([]string{"INFO"})
	if err != nil {
		return err
	}
	if answers[0].kind == quorum.FailureReply {
		return errors.New(answers[0].str)
	}
	who, err := readInfo(answers[0].str)
	if err != nil {
		return err
	}
	s.runID = who.RunID
	// A message may follow upon the reply.
	if err := s.gate.send([]string{"SUBSCRIBE", messages.Channel}); err != nil {
		return err
	}
	a, err := s.gate.read(1)
	switch {
	case err != nil:
		return err
	case a.kind == quorum.FailureReply:
		return errors.New(a.str)
	case len(a.elems) != 3 || a.elems[0].str != "subscribe" || a.elems[1].str != messages.Channel:
		return errGarbage
	}
	return nil
}

// hear delivers what the master sends, until the connection breaks.
func (s *subscription) hear(e *Engine, i int) error {
	for {
		if s.gate.r.Buffered() == 0 {
			if id := e.claimed(i); id != "" && id != s.runID {
				return errAnotherServer
			}
			if err := s.wait(e.ProbeInterval, e.MasterTimeout); err != nil {
				return err
			}
		}
		s.conn.SetReadDeadline(time.Now().Add(e.MasterTimeout))
		a, err := s.gate.read(1)
		if err != nil {
			return err
		}
		if text, ok := messageText(a); ok {
			e.messages.Receive(text)
		}
	}
}

// wait waits until there is something to read. A master that is silent for long
// is asked whether it is still there.
func (s *subscription) wait(silence, patience time.Duration) error {
	s.conn.SetReadDeadline(time.Now().Add(silence))
	_, err := s.gate.r.Peek(1)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	s.conn.SetDeadline(time.Now().Add(patience))
	if err := s.gate.send([]string{"PING"}); err != nil {
		return err
	}
	_, err = s.gate.r.Peek(1)
	return err
}

// messageText reads {"message", channel, text}. What else comes is the answer
// to a PING.
func messageText(a answer) (text string, ok bool) {
	if len(a.elems) != 3 || a.elems[0].str != "message" || a.elems[1].str != messages.Channel {
		return "", false
	}
	return a.elems[2].str, a.elems[2].kind == quorum.BulkReply
}
