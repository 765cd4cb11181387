package engine

import (
	"context"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/clock"
)

// The bounds of what proxies ask each other. Whatever one proxy's clients have it ask, the others
// have so much to do for it.
const (
	// maxInquiries is how many questions of ours are open at a time.
	maxInquiries = 16

	// So many are asked at once, or answered, and then one in each while: 50 a second.
	askedAtOnce = 16
	askedEvery  = 20 * time.Millisecond

	// heardWithin is how long one that is there may take to say something, where a decision may
	// take longer.
	heardWithin = 300 * time.Millisecond

	// censusEvery is how often an inquiry waits also for proxies that were not heard of.
	censusEvery = time.Minute
)

// inquiring is what an engine keeps of its inquiries.
type inquiring struct {
	places chan struct{} // one is taken by each that is open

	mu      sync.Mutex // guards what follows
	asks    pace
	answers pace
	census  time.Time // when the latest began that has waited for whoever may be there
}

func newInquiring() inquiring { return inquiring{places: make(chan struct{}, maxInquiries)} }

// pace has some be done at once, and what follows one in each while.
type pace struct{ due time.Time }

// next is how long the next one has to wait, which is done then.
func (p *pace) next(now time.Time) time.Duration {
	if rested := now.Add(-askedAtOnce * askedEvery); p.due.Before(rested) {
		p.due = rested
	}
	p.due = p.due.Add(askedEvery)
	return p.due.Sub(now)
}

// Consult says who answers from now on what other proxies ask. They are heard from then on,
// through all masters, as messages are. Where nobody answers, which nil says, they are told so.
func (e *Engine) Consult(c quorum.Colleague) {
	e.inquiries.Consult(c)
	e.subscriptions.Begin()
}

// Inquire asks all other proxies of the same masters a question, which is not "" and of
// quorum.MaxQuestion bytes at most, or asks nobody. It returns what has been answered when ctx
// ends, or as soon as there are enough answers, if that is not 0, or all that are there have said
// something. So ctx is to have a deadline, and one that leaves more time than AcquireTimeout.
//
// Who is there is known as follows. A proxy is heard of when it begins to listen, as it greets the
// others, and whenever it asks or answers. It is there no more once it has said nothing to a
// question that was open for AcquireTimeout. And once a minute an inquiry goes on although all
// who are known have said something: there may be others, whose greeting was lost, or came before
// this proxy could hear it. The first one is such.
func (e *Engine) Inquire(ctx context.Context, question string, enough int) []quorum.Answer {
	if question == "" || len(question) > quorum.MaxQuestion {
		return nil
	}
	a := &e.inquiring
	select {
	case a.places <- struct{}{}:
		defer func() { <-a.places }()
	case <-ctx.Done():
		return nil
	}
	clock.Pause(ctx, a.untilNext(&a.asks))
	if e.awaitHearing(ctx.Done()) == 0 || ctx.Err() != nil {
		return nil
	}
	began := time.Now()
	census := a.censusDue(began)
	i := e.inquiries.Ask(question)
	for ctx.Err() == nil && !e.zero.closing.Load() {
		answers, awaited := i.Look()
		if enough > 0 && answers >= enough || awaited == 0 && !census {
			break
		}
		select {
		case <-i.News():
		case <-ctx.Done():
		}
	}
	hadTime := time.Since(began) >= min(e.zero.AcquireTimeout, heardWithin)
	if hadTime {
		a.hasWaited(began)
	}
	return i.End(hadTime)
}

// untilNext is for how long a pace has the next one wait.
func (a *inquiring) untilNext(p *pace) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return p.next(time.Now())
}

// censusDue tells that it is not known who is there.
func (a *inquiring) censusDue(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.census.IsZero() || now.Sub(a.census) >= censusEvery
}

func (a *inquiring) hasWaited(began time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if began.After(a.census) {
		a.census = began
	}
}

// answer answers what other proxies ask, until ctx ends. What they ask faster than so many are
// answered waits, and what finds no room there is not answered.
func (e *Engine) answer(ctx context.Context) {
	for {
		select {
		case <-e.inquiries.Due():
		case <-ctx.Done():
			return
		}
		for ctx.Err() == nil && e.inquiries.Answer() {
			clock.Pause(ctx, e.inquiring.untilNext(&e.inquiring.answers))
		}
	}
}

// greet tells the other proxies that this one is there, if it hears so many masters that it will
// hear what they ask.
func (e *Engine) greet(confirmed int) {
	if confirmed >= quorum.QuorumOf(len(e.zero.lanes)) {
		e.inquiries.Greet()
	}
}

// post puts a letter into the lanes of all masters.
func (e *Engine) post(letter string) {
	for _, l := range e.zero.lanes {
		l.queue.post(letter)
	}
}
