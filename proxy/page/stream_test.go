package page

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// reader is who reads a stream, or does not.
type reader struct {
	mu       sync.Mutex // guards what follows
	text     strings.Builder
	deadline time.Time
	header   http.Header
	status   int
	stuck    bool // it reads no more: who writes waits for the deadline

	gone  context.CancelFunc
	ended chan struct{}
}

func (r *reader) Header() http.Header    { return r.header }
func (r *reader) WriteHeader(status int) { r.status = status }
func (r *reader) Flush()                 {}

func (r *reader) SetWriteDeadline(t time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deadline = t
	return nil
}

func (r *reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stuck {
		time.Sleep(time.Until(r.deadline))
		return 0, errors.New("nobody reads")
	}
	return r.text.Write(p)
}

// read is what came since it was last called.
func (r *reader) read() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.text.Reset()
	return r.text.String()
}

func (r *reader) hasEnded() bool {
	synctest.Wait()
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// follow has somebody read a stream, who has had what lastID says.
func follow(t *testing.T, h *Handler, lastID string) *reader {
	ctx, cancel := context.WithCancel(t.Context())
	r := &reader{header: http.Header{}, gone: cancel, ended: make(chan struct{})}
	request := httptest.NewRequest("GET", "/api/stream", nil).WithContext(ctx)
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	go func() {
		defer close(r.ended)
		h.ServeHTTP(r, request)
	}()
	return r
}

func overviewsIn(text string) int { return strings.Count(text, "event: overview\ndata: {") }

func TestAStreamHasAnOverviewEachSecondThatIsMadeForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSource{overview: Overview{Proxy: Proxy{ID: "p1"}}}
		h := newHandler(t, s)
		var all []*reader
		for range maxStreams {
			all = append(all, follow(t, h, ""))
		}
		begun := s.made()
		time.Sleep(10*time.Second + time.Millisecond)
		for _, r := range all {
			if text := r.read(); overviewsIn(text) != 11 || !strings.HasPrefix(text, "retry: 1000\nevent: overview\n") || r.header.Get("Content-Type") != "text/event-stream" {
				t.Errorf("%d overviews in ten seconds, with %v: %.100s", overviewsIn(text), r.header, text)
			}
			r.gone()
		}
		if made := s.made() - begun; made != 10 {
			t.Errorf("%d overviews were made in ten seconds", made)
		}
		for _, r := range all {
			if !r.hasEnded() {
				t.Error("a stream goes on whose reader is gone")
			}
		}
	})
}

func TestStreamOfWhoMayLookNoMoreEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSource{overview: Overview{Proxy: Proxy{ID: "p1"}}}
		r := follow(t, newHandler(t, s), "")
		time.Sleep(3 * time.Second)
		if r.hasEnded() {
			t.Error("it has ended before")
		}
		s.ended.Store(true)
		time.Sleep(2 * time.Second)
		if !r.hasEnded() {
			t.Error("it goes on")
			r.gone()
		}
	})
}

func TestWhatHappensIsToldAtOnceAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSource{overview: Overview{Proxy: Proxy{ID: "p1"}}}
		h := newHandler(t, s)
		s.happens("before")
		r := follow(t, h, "")
		if text := r.read(); !strings.Contains(text, "id: p1/1\nevent: event\ndata: {\"number\":1,") {
			t.Errorf("it begins with %s", text)
		}
		time.Sleep(250 * time.Millisecond)
		s.happens("a master is down")
		if text := r.read(); text != `id: p1/2`+"\nevent: event\n"+`data: {"number":2,"at":null,"kind":"master","trouble":false,"text":"a master is down"}`+"\n\n" {
			t.Errorf("what happened is told as %q", text)
		}
		// Of a flood some are told together.
		for i := range 50 {
			s.happens(fmt.Sprint(i))
		}
		if text := r.read(); text != "" {
			t.Errorf("a flood is told at once: %s", text)
		}
		time.Sleep(betweenEvents)
		if text := r.read(); strings.Count(text, "event: event\n") != 50 || !strings.Contains(text, "id: p1/52\n") {
			t.Errorf("of a flood is told %s", text)
		}
		r.gone()
		// Who comes back is told what he has missed, and all if that was another process.
		for lastID, first := range map[string]string{"p1/51": "p1/52", "p0/51": "p1/1", "p1": "p1/1", "p1/x": "p1/1"} {
			again := follow(t, h, lastID)
			_, told, _ := strings.Cut(again.read(), "id: ")
			if got, _, _ := strings.Cut(told, "\n"); got != first {
				t.Errorf("after %s is told %s, want %s", lastID, got, first)
			}
			again.gone()
		}
		synctest.Wait()
	})
}

func TestThereAreSoManyStreamsAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, &fakeSource{})
		var all []*reader
		for range maxStreams {
			all = append(all, follow(t, h, ""))
		}
		synctest.Wait()
		w := asks(h, "GET", "/api/stream", "")
		wantRefused(t, w, 503, "16")
		if w.Header().Get("Retry-After") == "" {
			t.Error("it is not said when to come again")
		}
		all[3].gone()
		synctest.Wait()
		r := follow(t, h, "")
		if overviewsIn(r.read()) != 1 {
			t.Error("nobody has the place of who is gone")
		}
		h.Close()
		for _, r := range append(all, r) {
			if !r.hasEnded() {
				t.Error("a stream goes on after the end")
			}
		}
		wantRefused(t, asks(h, "GET", "/api/stream", ""), 503, "")
	})
}

func TestWhoDoesNotReadIsCutOffAndKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, &fakeSource{})
		slow, other := follow(t, h, ""), follow(t, h, "")
		slow.read()
		other.read()
		slow.mu.Lock()
		slow.stuck = true
		slow.mu.Unlock()
		time.Sleep(everySecond + readWithin - time.Millisecond)
		if slow.hasEnded() {
			t.Error("it is cut off at once")
		}
		time.Sleep(2 * time.Millisecond)
		if !slow.hasEnded() {
			t.Error("it is not cut off")
		}
		if n := overviewsIn(other.read()); n != 11 {
			t.Errorf("who reads has had %d overviews in eleven seconds", n)
		}
		other.gone()
	})
}

// Without a deadline who does not read would have his place for ever.
func TestThereIsNoStreamWithoutADeadline(t *testing.T) {
	wantRefused(t, asks(newHandler(t, &fakeSource{}), "GET", "/api/stream", ""), 500, "no streams")
}

// A real reader over a real connection that takes nothing: the stream ends by its deadline, not
// by what a fake makes of it.
func TestAStreamIsWrittenWithADeadline(t *testing.T) {
	s := &fakeSource{overview: Overview{Verdict: Verdict{Text: strings.Repeat("x", 8<<20)}}}
	h := newHandler(t, s)
	h.streams.readWithin = 100 * time.Millisecond
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	nc, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	fmt.Fprintf(nc, "GET /api/stream HTTP/1.1\r\nHost: proxy\r\n\r\n")
	if line, err := bufio.NewReaderSize(nc, 16).ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("who does not read is not cut off")
	}
}
