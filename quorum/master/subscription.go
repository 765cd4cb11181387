package master

import (
	"context"
	"time"

	"redlock-proxy/quorum"
)

// Subscription is a connection of its own to one master, on which it sends what
// is published on one channel.
type Subscription struct {
	ear
	channel string
}

// Refusal is the error by which a master does not let us subscribe, or does not tell of changes.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// Subscribe subscribes to a channel of the master, of which messages have so many bytes at most. All that is bounded by
// dialing; the subscription ends with life, and is the caller's to close.
func (m *Master) Subscribe(dialing, life context.Context, channel string, longest int64) (*Subscription, error) {
	s := &Subscription{channel: channel}
	if err := s.open(m, dialing, life, longest, s.begin); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Subscription) begin() error {
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

// Pending tells that something was read already that is still to be taken.
func (s *Subscription) Pending() bool { return s.gate.r.Buffered() > 0 }

// Wait waits until there is something to read. A master that says nothing for as long as silence
// is asked whether it is still there, and has patience to say so; that it has not is an error.
func (s *Subscription) Wait(silence, patience time.Duration) error {
	return s.wait(silence, patience, func() error { return s.gate.send([]string{"PING"}) })
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
