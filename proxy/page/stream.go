package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxStreams go on at a time.
const maxStreams = 16

const (
	// everySecond an overview is sent. By it a connection that is none any more is found out, at
	// both ends.
	everySecond = time.Second

	// betweenEvents is for how long what happened is gathered, after something was sent.
	betweenEvents = 100 * time.Millisecond

	// readWithin is how long who is sent something may leave it unread, beyond what fits on the
	// way to him, before he is cut off.
	readWithin = 10 * time.Second
)

// streams are those that go on.
type streams struct {
	ctx context.Context // ends with Handler.Close
	end context.CancelFunc

	readWithin time.Duration

	mu     sync.Mutex // guards what follows
	open   int
	closed bool
	all    sync.WaitGroup
}

func (s *streams) join() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.open == maxStreams {
		return false
	}
	s.open++
	s.all.Add(1)
	return true
}

func (s *streams) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.all.Done()
}

func (s *streams) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.all.Wait()
}

// stream sends server-sent events: an overview at once and each second, and what happens when it
// does. It lives on the goroutine of its request, and ends with that, with Close, or when its
// reader does not read.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) {
	if _, err := parametersOf(r); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if !h.streams.join() {
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d look already, which is as many as may", maxStreams))
		return
	}
	defer h.streams.leave()
	s := stream{source: h.source, mayLook: h.source.Looking(h.who(r)), frames: &h.frames, to: http.NewResponseController(w), w: w, readWithin: h.streams.readWithin}
	if err := s.to.SetWriteDeadline(time.Now().Add(s.readWithin)); err != nil {
		h.log.Error("a stream cannot be written with a deadline by what the page is served with", "error", err)
		refuse(w, http.StatusInternalServerError, "there are no streams here")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // by what is between us and the reader
	if err := s.run(r.Context(), h.streams.ctx, r.Header.Get("Last-Event-ID")); err != nil && r.Context().Err() == nil {
		h.log.Debug("who looks does not read, and is cut off", "from", h.who(r).From, "error", err)
	}
}

// stream is one of them.
type stream struct {
	source     Source
	mayLook    func() bool // still
	frames     *frames
	to         *http.ResponseController
	w          http.ResponseWriter
	readWithin time.Duration
	proxy      string // the ID of ours, by which the numbers of events are told from those before a restart
	last       uint64 // the number of the last event sent
}

// run sends until one of the contexts ends, which is no error, or nothing can be sent.
func (s *stream) run(request, server context.Context, lastID string) error {
	_, s.proxy = s.frames.overview()
	s.last = eventAfter(lastID, s.proxy)
	overviews := time.NewTicker(everySecond)
	defer overviews.Stop()
	pause := time.NewTimer(0) // over when events may be sent again
	defer pause.Stop()

	if err := s.send("retry: 1000\n", s.overview()); err != nil {
		return err
	}
	var more <-chan struct{} // nil while events are gathered
	for {
		text := ""
		select {
		case <-request.Done():
			return nil
		case <-server.Done():
			return nil
		case <-overviews.C:
			if !s.mayLook() {
				return nil
			}
			text = s.overview()
		case <-pause.C:
			text, more = s.events()
		case <-more:
			more = nil
			pause.Reset(betweenEvents)
			text, _ = s.events()
		}
		if text != "" {
			if err := s.send(text); err != nil {
				return err
			}
		}
	}
}

// eventAfter is the number that a reader has had, if that is one of ours.
func eventAfter(id, proxy string) uint64 {
	of, number, _ := strings.Cut(id, "/")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || of != proxy {
		return 0
	}
	return n
}

func (s *stream) overview() string {
	body, _ := s.frames.overview()
	return "event: overview\ndata: " + string(body) + "\n\n"
}

// events are those that have not been sent, and what tells that there are more.
func (s *stream) events() (text string, more <-chan struct{}) {
	list, more := s.source.Events(s.last)
	var b strings.Builder
	for i := range list {
		body, err := json.Marshal(&list[i])
		if err != nil {
			panic(err) // of our own types there is none that cannot be encoded
		}
		fmt.Fprintf(&b, "id: %s/%d\nevent: event\ndata: %s\n\n", s.proxy, list[i].Number, body)
		s.last = list[i].Number
	}
	return b.String(), more
}

// send writes, and waits for the reader no longer than it is to.
func (s *stream) send(parts ...string) error {
	if err := s.to.SetWriteDeadline(time.Now().Add(s.readWithin)); err != nil {
		return err
	}
	for _, part := range parts {
		if _, err := s.w.Write([]byte(part)); err != nil {
			return err
		}
	}
	return s.to.Flush()
}
