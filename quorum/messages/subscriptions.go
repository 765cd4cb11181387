package messages

import "sync"

// Subscriptions tells how many masters this proxy hears messages from. It is subscribed to none
// of them before a client of its own subscribes to anything, and to all from then on: most
// proxies have either no subscribers, or soon some again.
type Subscriptions struct {
	start func() // the goroutines that listen to the masters

	mu       sync.Mutex // guards what follows
	started  bool
	closed   bool
	standing int
	changed  chan struct{} // closed at the next change, or nil; once closed is set it stays closed
}

// NewSubscriptions has start called, once, when somebody wants to hear: it begins to listen to
// the masters, and waits for none of them.
func NewSubscriptions(start func()) *Subscriptions { return &Subscriptions{start: start} }

// Look tells how many stand, and of the next change by closing a channel. It begins to listen,
// if nobody has yet.
func (s *Subscriptions) Look() (standing int, changed <-chan struct{}) {
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

// Standing is how many stand.
func (s *Subscriptions) Standing() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.standing
}

// Add counts one that stands (1) or has ended (-1).
func (s *Subscriptions) Add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing += n
	if s.changed != nil && !s.closed {
		close(s.changed)
		s.changed = nil
	}
}

// Close lets nobody begin to listen any more, or wait for it.
func (s *Subscriptions) Close() {
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
