package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// subscriptions tells how many masters this proxy hears messages from. It is
// subscribed to none of them before a client of its own subscribes to anything,
// and to all from then on: most proxies have either no subscribers, or soon some
// again.
type subscriptions struct {
	start func() // the goroutines that listen to the masters

	mu       sync.Mutex // guards what follows
	started  bool
	closed   bool
	standing int
	changed  chan struct{} // closed at the next change, or nil; once closed is set it stays closed
}

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
		standing, changed := e.subscriptions.look()
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

// look begins to listen, if nobody has yet.
func (s *subscriptions) look() (standing int, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started && !s.closed {
		s.started = true
		s.start()
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
		if s.closed {
			close(s.changed)
		}
	}
	return s.standing, s.changed
}

func (s *subscriptions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.standing
}

// add counts a subscription that stands (1) or has ended (-1).
func (s *subscriptions) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing += n
	s.wake()
}

// close lets nobody begin to listen any more, or wait for it.
func (s *subscriptions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	close(s.changed)
}

// wake is called with mu held.
func (s *subscriptions) wake() {
	if s.changed != nil && !s.closed {
		close(s.changed)
		s.changed = nil
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
			e.subscriptions.add(1)
			err = s.hear(e, i)
			e.subscriptions.add(-1)
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
