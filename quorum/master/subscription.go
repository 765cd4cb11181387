package master

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"time"

	"redlock-proxy/quorum"
)

// Subscription is a connection of its own to one master, on which it sends what
// is published on one channel.
type Subscription struct {
	gate    *Gate
	channel string
	RunID   string      // of the process that sends it
	stop    func() bool // of what closes the connection when it is to live no longer
}

// Refusal is the error by which a master does not let us subscribe.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Subscribe connects to the master, finds out who it is, and subscribes to a channel, of which
// messages have so many bytes at most. All that is bounded by dialing; the subscription ends
// with life, and is the caller's to close.
func (m *Master) Subscribe(dialing, life context.Context, channel string, longest int64) (*Subscription, error) {
	conn, err := m.connect(dialing)
	if err != nil {
		return nil, err
	}
	s := &Subscription{channel: channel, stop: context.AfterFunc(life, func() { conn.Close() })}
	if err := s.begin(m, conn, longest); err != nil {
		s.stop()
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *Subscription) begin(m *Master, conn net.Conn, longest int64) error {
	conn, err := m.secure(conn)
	if err != nil {
		return err
	}
	s.gate = &Gate{conn: conn, r: bufio.NewReaderSize(conn, 16<<10), Longest: longest}
	if err := s.gate.authenticate(m.credentials()); err != nil {
		return err
	}
	answers, err := s.gate.Ask([]string{"INFO"})
	if err != nil {
		return err
	}
	if err := answers[0].Err(); err != nil {
		return err
	}
	who, err := readInfo(answers[0].Str)
	if err != nil {
		return err
	}
	s.RunID = who.RunID
	// A message may follow upon the reply.
	if err := s.gate.send([]string{"SUBSCRIBE", s.channel}); err != nil {
		return err
	}
	a, err := s.gate.read(1)
	switch {
	case err != nil:
		return err
	case a.Err() != nil:
		return Refusal(a.Str)
	case len(a.Elems) != 3 || a.Elems[0].Str != "subscribe" || a.Elems[1].Str != s.channel:
		return ErrGarbage
	}
	return nil
}

// Close ends the connection.
func (s *Subscription) Close() {
	s.stop()
	s.gate.Close()
}

// Pending tells that something was read already that is still to be taken.
func (s *Subscription) Pending() bool { return s.gate.r.Buffered() > 0 }

// Wait waits until there is something to read. A master that says nothing for as long as silence
// is asked whether it is still there, and has patience to say so; that it has not is an error.
func (s *Subscription) Wait(silence, patience time.Duration) error {
	s.gate.conn.SetReadDeadline(time.Now().Add(silence))
	_, err := s.gate.r.Peek(1)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	s.gate.conn.SetDeadline(time.Now().Add(patience))
	if err := s.gate.send([]string{"PING"}); err != nil {
		return err
	}
	_, err = s.gate.r.Peek(1)
	return err
}

// Next reads a message, which has to be there within patience, and returns its text. It is not ok
// if something else comes, as the answer to a PING.
func (s *Subscription) Next(patience time.Duration) (text string, ok bool, err error) {
	s.gate.conn.SetReadDeadline(time.Now().Add(patience))
	a, err := s.gate.read(1)
	if err != nil || len(a.Elems) != 3 || a.Elems[0].Str != "message" || a.Elems[1].Str != s.channel {
		return "", false, err
	}
	return a.Elems[2].Str, a.Elems[2].Kind == quorum.BulkReply, nil
}
