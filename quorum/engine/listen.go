package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/messages"
)

// Subscribe makes sure that messages are heard before a client is told that it
// has subscribed: whatever is published after that must reach it, or a client
// that waits for a lock would sleep through its release. The result is Won when
// the subscriptions to a quorum of masters stand, and Unavailable if that takes
// longer than AcquireTimeout.
func (e *Engine) Subscribe() quorum.Result {
	n := len(e.zero.lanes)
	r := quorum.Result{Decision: quorum.Unavailable, Needed: quorum.QuorumOf(n), Masters: n}
	if r.Voted = e.awaitHearing(nil); r.Voted >= r.Needed {
		r.Decision = quorum.Won
	}
	return r
}

// awaitHearing waits until the subscriptions to a quorum of masters stand, for AcquireTimeout at
// most and not after over is closed, and tells how many do.
func (e *Engine) awaitHearing(over <-chan struct{}) (confirmed int) {
	patience := time.NewTimer(e.zero.AcquireTimeout)
	defer patience.Stop()
	for {
		confirmed, changed := e.subscriptions.Look()
		if confirmed >= quorum.QuorumOf(len(e.zero.lanes)) {
			return confirmed
		}
		select {
		case <-changed:
		case <-patience.C:
			return confirmed
		case <-over:
			return confirmed
		}
		if e.zero.closing.Load() {
			return confirmed
		}
	}
}

// errAnotherServer ends a subscription to a server that no command goes to: one
// that was replaced, or that is configured twice and has one vote only.
var errAnotherServer = errors.New("it is not the server that commands go to")

// listen is the life of the subscription to master i. It ends when ctx does.
func (e *Engine) listen(ctx context.Context, i int) {
	select {
	case <-e.zero.tried:
	case <-ctx.Done():
	}
	log := e.zero.lanes[i].log
	deaf := false         // trouble was logged
	var failing time.Time // since when, while the lane has its connection
	for ctx.Err() == nil {
		rest := e.zero.ProbeInterval/8 + rand.N(e.zero.ProbeInterval/8)
		s, err := e.subscribe(ctx, i)
		if err == nil {
			if deaf {
				deaf = false
				log.Info("master's messages are heard again")
			}
			failing = time.Time{}
			e.subscriptions.Confirm(e.greet)
			err = e.hear(s, i)
			e.subscriptions.End()
			s.Close()
			log.Debug("subscription ended", "reason", master.ReasonOf(err))
		} else if e.zero.claimed(i) == "" {
			failing = time.Time{}
		} else if ctx.Err() == nil {
			if failing.IsZero() {
				failing = time.Now()
			}
			if deaf {
				rest = e.zero.ProbeInterval // it may not let us for years
			} else if e.deafens(err, failing) {
				deaf = true
				log.Warn("master's messages cannot be heard", "reason", master.ReasonOf(err))
			}
		}
		clock.Pause(ctx, rest)
	}
}

// deafens tells that the trouble with a subscription is to be told. Of a master that is down
// altogether the lane tells, if later: it finds out when it has something to send.
func (e *Engine) deafens(err error, failing time.Time) bool {
	return errors.As(err, new(master.Refusal)) || time.Since(failing) > e.zero.ProbeInterval+e.zero.MasterTimeout
}

// subscribe has master i send what is published, unless no command goes to that server.
func (e *Engine) subscribe(ctx context.Context, i int) (*master.Subscription, error) {
	dialing, cancel := context.WithTimeout(ctx, e.zero.ConnectTimeout)
	defer cancel()
	s, err := e.zero.Masters[i].Subscribe(dialing, ctx, messages.Channel, messages.MaxEnvelope)
	if err == nil && s.RunID != e.zero.claimed(i) {
		s.Close()
		return nil, errAnotherServer
	}
	return s, err
}

// hear delivers what master i sends, until the connection breaks.
func (e *Engine) hear(s *master.Subscription, i int) error {
	for {
		if !s.Pending() {
			if id := e.zero.claimed(i); id != "" && id != s.RunID {
				return errAnotherServer
			}
			if err := s.Wait(e.zero.ProbeInterval, e.zero.MasterTimeout); err != nil {
				return err
			}
		}
		text, ok, err := s.Next(e.zero.MasterTimeout)
		if err != nil {
			return err
		}
		if ok { // each takes what is its own
			e.inquiries.Receive(text)
			e.messages.Receive(text)
		}
	}
}
