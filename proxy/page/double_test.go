package page

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-hclog"
)

// fakeSource says what a test has it say, and keeps what it is asked.
type fakeSource struct {
	ended     atomic.Bool // nobody may look any more
	mu        sync.Mutex  // guards what follows
	overview  Overview
	overviews int // how many were asked for
	locks     Locks
	lock      Lock
	err       error // what all but the overview is answered with
	allowed   bool
	events    []Event
	more      chan struct{}
	hold      chan struct{} // if not nil, what Locks waits for besides its context

	query   Query
	db      int
	key     string
	who     Who
	orders  []Order
	waiting int // in Locks

	forbidden []string // who, and why
}

func (s *fakeSource) Overview() Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overviews++
	return s.overview
}

// made is how many overviews were, by whoever is not waiting.
func (s *fakeSource) made() int {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overviews
}

func (s *fakeSource) Locks(ctx context.Context, q Query) (Locks, error) {
	s.mu.Lock()
	s.query = q
	hold := s.hold
	s.waiting++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting--
	}()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return Locks{}, ctx.Err()
		}
	}
	return s.locks, s.err
}

func (s *fakeSource) Lock(_ context.Context, db int, key string) (Lock, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.db, s.key = db, key
	return s.lock, s.err
}

func (s *fakeSource) Events(after uint64) ([]Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more == nil {
		s.more = make(chan struct{})
	}
	for i := range s.events {
		if s.events[i].Number > after {
			return s.events[i:len(s.events):len(s.events)], s.more
		}
	}
	return nil, s.more
}

func (s *fakeSource) happens(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, Event{Number: uint64(len(s.events) + 1), Kind: "master", Text: Text(text)})
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
}

func (s *fakeSource) Forbidden(who Who, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forbidden = append(s.forbidden, who.From+": "+why)
}

func (s *fakeSource) OrdersAllowed() bool       { return s.allowed }
func (s *fakeSource) MayOrder(Who, string) bool { return s.allowed }
func (s *fakeSource) Looking(Who) func() bool   { return func() bool { return !s.ended.Load() } }

func (s *fakeSource) Order(_ context.Context, who Who, o Order) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.who, s.orders = who, append(s.orders, o)
	return "it is done", s.err
}

func newHandler(t *testing.T, s *fakeSource) *Handler {
	t.Helper()
	h := New(Config{Source: s, Log: hclog.NewNullLogger()})
	t.Cleanup(h.Close)
	return h
}

// asks sends a request and returns what it is answered with.
func asks(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// wantRefused wants a status and an error, in JSON, that has these words.
func wantRefused(t *testing.T, w *httptest.ResponseRecorder, status int, words string) {
	t.Helper()
	var said struct{ Error string }
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("the answer is no JSON: %q: %v", w.Body, err)
	}
	if w.Code != status || !strings.Contains(said.Error, words) || said.Error == "" {
		t.Errorf("got %d %q, want %d with %q", w.Code, said.Error, status, words)
	}
}

// fieldsOf is an answer of status 200, in JSON, taken apart.
func fieldsOf(t *testing.T, w *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &fields); err != nil || w.Code != http.StatusOK {
		t.Fatalf("got %d %q: %v", w.Code, w.Body, err)
	}
	return fields
}
