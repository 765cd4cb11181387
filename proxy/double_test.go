package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// asked is a request that the fake engine has got and not yet answered.
type asked struct {
	request quorum.Request
	asker   quorum.Asker
}

// fakeEngine keeps requests until the test answers them, from the test's
// goroutine, in any order, or never. With auto it answers by itself.
type fakeEngine struct {
	auto func(e *fakeEngine, a asked)

	mu      sync.Mutex
	waiting []asked
	all     []quorum.Request
	status  quorum.Status

	takenBack []string
	stays     []bool                            // of each request that a reader has put first, whether he stays with it
	stay      func(fd int) (quorum.Stay, error) // nil: a fakeStay

	observer quorum.Observer
	watched  []string
	casts    atomic.Bool
	dumb     error // why masters tell of nothing

	orders []string // what the operator ordered
	notNow error    // what orders are answered

	timeless bool // the masters' clocks do not agree

	keyspace func(a asked) // answers what INFO asks; nil: no master does

	weights map[string]int // of requests, by their keys
	memory  atomic.Int64   // taken for what masters answer

	broadcast
}

func (e *fakeEngine) Put(r *quorum.Request, asker quorum.Asker) { e.PutSince(r, asker, time.Now()) }

func (e *fakeEngine) PutStaying(r *quorum.Request, asker quorum.Asker, asked time.Time, with quorum.Stay) {
	e.mu.Lock()
	e.stays = append(e.stays, with != nil)
	e.mu.Unlock()
	if s, ok := with.(*fakeStay); ok {
		s.stayed = true
	}
	e.PutSince(r, asker, asked)
}

func (e *fakeEngine) Stay(fd int) (quorum.Stay, error) {
	if e.stay != nil {
		return e.stay(fd)
	}
	return new(fakeStay), nil
}

// fakeStay has the leader look for more by himself first, behind each request that he might have stayed with.
type fakeStay struct{ stayed bool }

func (s *fakeStay) Stayed() (yes bool) {
	yes, s.stayed = s.stayed, false
	return yes
}

func (s *fakeStay) Close() {}

func (e *fakeEngine) PutSince(r *quorum.Request, asker quorum.Asker, _ time.Time) {
	if r.Kind == quorum.Survey && (r.Args[0] == "INFO" || r.Args[0] == "EXISTS") {
		if e.keyspace != nil {
			e.keyspace(asked{*r, asker})
		} else {
			asker.Answer(quorum.Result{Decision: quorum.Unavailable}).Flush()
		}
		return
	}
	a := asked{*r, asker}
	e.mu.Lock()
	e.all = append(e.all, *r)
	if e.auto == nil {
		e.waiting = append(e.waiting, a)
	}
	e.mu.Unlock()
	if e.auto != nil {
		e.auto(e, a)
	}
}

func (e *fakeEngine) TakeBack(l quorum.Lock) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.takenBack = append(e.takenBack, l.Key)
}

func (e *fakeEngine) Observe(o quorum.Observer) { e.observer = o }

func (e *fakeEngine) Watch(db int, key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watched = append(e.watched, fmt.Sprint(db, " ", key))
}

func (e *fakeEngine) Broadcast(on bool) { e.casts.Store(on) }

func (e *fakeEngine) Tells(context.Context) error { return e.dumb }

// watches is how often a key was to be watched.
func (e *fakeEngine) watches() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.watched)
}

func (e *fakeEngine) Weight(r *quorum.Request) int { return e.weights[r.Key] }

func (e *fakeEngine) Memory() int            { return int(e.memory.Load()) }
func (e *fakeEngine) Open(int) error         { return nil }
func (e *fakeEngine) Ready() bool            { return true }
func (e *fakeEngine) Now() (time.Time, bool) { return time.UnixMicro(1700000000123456), !e.timeless }

// stands has the masters stand so from now on.
func (e *fakeEngine) stands(st quorum.Status) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = st
}

func (e *fakeEngine) Status() quorum.Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status
}

func (e *fakeEngine) Admit(master string) error { return e.order("admit " + master) }
func (e *fakeEngine) Drain(master string, force bool) error {
	if force {
		master += " by force"
	}
	return e.order("drain " + master)
}
func (e *fakeEngine) Resume(master string) error { return e.order("resume " + master) }

func (e *fakeEngine) order(text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.orders = append(e.orders, text)
	return e.notNow
}

// answer answers the oldest waiting request for key.
func (e *fakeEngine) answer(t testing.TB, key string, r quorum.Result) {
	t.Helper()
	e.mu.Lock()
	var found *asked
	for i := range e.waiting {
		if e.waiting[i].request.Key == key {
			a := e.waiting[i]
			found = &a
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			break
		}
	}
	e.mu.Unlock()
	if found == nil {
		t.Errorf("no request for %q is waiting", key)
		return
	}
	if r.Decision == quorum.Won {
		r.Lock.Key = key
	}
	found.asker.Answer(r).Flush()
}

// take takes out the oldest waiting request for key, which there is.
func (e *fakeEngine) take(key string) asked {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.waiting, func(a asked) bool { return a.request.Key == key })
	a := e.waiting[i]
	e.waiting = slices.Delete(e.waiting, i, i+1)
	return a
}

// keys are those of all requests so far, with the kind.
func (e *fakeEngine) keys() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	names := make([]string, len(e.all))
	for i, r := range e.all {
		names[i] = r.Kind.String() + ":" + r.Key
	}
	return strings.Join(names, " ")
}

var won = quorum.Result{Decision: quorum.Won}

// answerAtOnce wins everything before Put returns.
func answerAtOnce(_ *fakeEngine, a asked) {
	r := won
	r.Reply = quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}
	r.Script = &quorum.ScriptReply{Reply: r.Reply}
	a.asker.Answer(r).Flush()
}

// answerLater wins everything on another goroutine after a while.
func answerLater(d time.Duration) func(*fakeEngine, asked) {
	return func(e *fakeEngine, a asked) {
		time.AfterFunc(d, func() { answerAtOnce(e, a) })
	}
}
