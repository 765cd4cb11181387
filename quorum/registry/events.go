package registry

import (
	"strings"
	"sync"
	"time"
)

// Event is something that an operator may ask for afterwards: what a master did, or an operator.
type Event struct {
	Number uint64 // from 1 on, without a gap
	At     time.Duration
	Kind   string // a word: master, quorum, order, force
	About  string // the master, or the key; "" if it is about all
	Text   string
	By     string // who gave an order; "" if nobody did

	Trouble bool // it is bad news
	Lock    bool // About is a key, of this database
	DB      int
}

const (
	// MaxEvents is how many are kept.
	MaxEvents    = 1024
	maxEventText = 1024 // bytes

	// mostOfKey is how many bytes of a key are kept: as many as a page shows. A part of it would be
	// another key.
	mostOfKey = 4096
)

// Events are the latest ones: a ring.
type Events struct {
	mu    sync.Mutex // guards what follows
	list  []Event    // event n is at n % MaxEvents
	count uint64
	told  chan struct{} // closed by the next one; nil while nobody waits
}

// Tell adds an event, whose number is given to it.
func (s *Events) Tell(e Event) {
	e.About, e.Text, e.By = brief(e.About, mostOfKey), brief(e.Text, maxEventText), brief(e.By, maxEventText)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	e.Number = s.count
	if len(s.list) < MaxEvents {
		s.list = append(s.list, e)
	} else {
		s.list[(s.count-1)%MaxEvents] = e
	}
	if s.told != nil {
		close(s.told)
		s.told = nil
	}
}

func brief(s string, most int) string { return strings.Clone(s[:min(len(s), most)]) }

// After are those that came after event n, oldest first, and of these the latest if they are more
// than most. more is closed when there is another one.
func (s *Events) After(n uint64, most int) (list []Event, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := max(n, s.count-uint64(min(most, len(s.list))))
	for i := first; i < s.count; i++ {
		list = append(list, s.list[i%MaxEvents])
	}
	if s.told == nil {
		s.told = make(chan struct{})
	}
	return list, s.told
}
