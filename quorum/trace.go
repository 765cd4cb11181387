package quorum

import (
	"sync"
	"time"
)

// Trace is what is to be told of one request: each attempt at it, and of that what each master
// said, and when. Who asks makes one for the few requests that are told of, and reads it once
// the request is answered. The engine writes it, also after the answer, as votes come that are
// late. Lanes do so at once, so it is safe for concurrent use.
type Trace struct {
	Asked time.Time // when it was asked for, for who reads it

	mu       sync.Mutex // guards all of it, and of its attempts
	attempts []*Attempt
	left     int  // attempts that were not noted
	shared   bool // it was answered by another request's attempt
}

// mostAttempts are noted of one request. A step that meets others is tried for as long as a
// decision may take.
const mostAttempts = 32

// Attempt is one attempt at a traced request.
type Attempt struct {
	trace   *Trace
	tale    AttemptTale
	missing int // votes
}

// AttemptTale is what is known of an attempt.
type AttemptTale struct {
	Kind     Kind      // of the request, but for what follows by itself: the second step of an acquire without ttl
	Put      time.Time // to the masters
	Decided  time.Time // zero: it is not
	Decision Decision
	Masters  []MasterTale // in their order
}

// MasterTale is what a master said to an attempt.
type MasterTale struct {
	Vote    Vote      // zero: it has not voted yet
	At      time.Time // when it did
	Asked   bool      // it was sent the request; otherwise the vote was cast for it
	Counted bool      // its vote was there when it was decided
}

// Begin notes an attempt that is about to be put to so many masters. It is nil if there were
// too many.
func (t *Trace) Begin(kind Kind, masters int, put time.Time) *Attempt {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.attempts) == mostAttempts {
		t.left++
		return nil
	}
	a := &Attempt{trace: t, missing: masters, tale: AttemptTale{Kind: kind, Put: put, Masters: make([]MasterTale, masters)}}
	t.attempts = append(t.attempts, a)
	return a
}

// Share notes that the request is answered by the attempt of another one.
func (t *Trace) Share() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shared = true
}

// Voted notes the vote of master i, counted from 0. It comes before the decision that it leads to.
func (a *Attempt) Voted(i int, v Vote, asked bool, at time.Time) {
	a.trace.mu.Lock()
	defer a.trace.mu.Unlock()
	m := &a.tale.Masters[i]
	if m.Vote == 0 {
		a.missing--
	}
	m.Vote, m.Asked, m.At = v, asked, at
}

// Decided notes the decision, and the votes by which it fell.
func (a *Attempt) Decided(d Decision, votes Votes, at time.Time) {
	a.trace.mu.Lock()
	defer a.trace.mu.Unlock()
	a.tale.Decision, a.tale.Decided = d, at
	for i := range a.tale.Masters {
		a.tale.Masters[i].Counted = votes.Of(i) != 0
	}
}

// Complete tells of a request that was answered that nothing more will be noted.
func (t *Trace) Complete() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.attempts {
		if a.missing > 0 || a.tale.Decision == Undecided {
			return false
		}
	}
	return true
}

// Tale is what has been noted so far.
type Tale struct {
	Attempts []AttemptTale // the first ones
	Left     int           // further ones, of which nothing was noted
	Shared   bool          // another request's attempt has answered this one
}

// Tale is a copy that nobody writes any more.
func (t *Trace) Tale() Tale {
	t.mu.Lock()
	defer t.mu.Unlock()
	told := Tale{Attempts: make([]AttemptTale, len(t.attempts)), Left: t.left, Shared: t.shared}
	for i, a := range t.attempts {
		told.Attempts[i] = a.tale
		told.Attempts[i].Masters = append([]MasterTale(nil), a.tale.Masters...)
	}
	return told
}
