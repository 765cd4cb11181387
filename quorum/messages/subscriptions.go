package messages

import "sync"

// Subscriptions tells how many masters this proxy hears from. It is subscribed to none of them
// before somebody is to hear something, be that other proxies' questions or what their clients
// publish, and to all from then on.
type Subscriptions struct {
	start func() // the goroutines that listen to the masters

	mu        sync.Mutex // guards what follows
	started   bool
	closed    bool
	confirmed int
	changed   chan struct{} // closed at the next change, or nil; once closed is set it stays closed
}

// NewSubscriptions has start called, once, when somebody wants to hear: it begins to listen to
// the masters, and waits for none of them.
func NewSubscriptions(start func()) *Subscriptions { return &Subscriptions{start: start} }

// Begin begins to listen, if nobody has yet.
func (s *Subscriptions) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started && !s.closed {
		s.started = true
		s.start()
	}
}

// Look tells how many are confirmed, and of the next change by closing a channel. It begins to listen,
// if nobody has yet.
func (s *Subscriptions) Look() (confirmed int, changed <-chan struct{}) {
	s.Begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
		if s.closed {
			close(s.changed)
		}
	}
	return s.confirmed, s.changed
}

// Confirmed is how many masters have confirmed a subscription that has not ended.
func (s *Subscriptions) Confirmed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.confirmed
}

// Confirm counts one that is confirmed. Before anybody can see that, it tells how many those are.
func (s *Subscriptions) Confirm(tell func(confirmed int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tell(s.confirmed + 1)
	s.add(1)
}

// End counts one that has ended.
func (s *Subscriptions) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(-1)
}

// add is called with mu held.
func (s *Subscriptions) add(n int) {
	s.confirmed += n
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
