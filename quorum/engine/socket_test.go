package engine

import (
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// A socket behaves like one end of a TCP connection on one machine: a write
// waits for nobody, and what was written before the end is closed can still be
// read at the other, long after. That is what net.Pipe lacks, and what makes a
// master carry out commands whose asker has long gone.
type socket struct {
	in, out *stream

	mu       sync.Mutex // guards deadline and timer
	deadline *time.Timer
}

// stream is one direction of a connection.
type stream struct {
	mu    sync.Mutex
	cond  *sync.Cond
	bytes []byte
	ended bool // nothing more is written: the end of input comes after bytes
	gone  bool // the reader has closed, and reads and writes fail
	late  bool // the reader's deadline has passed
	void  bool // what is written vanishes

	far    time.Duration // what is written can be read so much later
	coming []parcel
}

// parcel is on its way.
type parcel struct {
	at    time.Time
	bytes []byte
}

func newStream() *stream {
	s := new(stream)
	s.cond = sync.NewCond(&s.mu)
	return s
}

func newSocket() (a, b *socket) {
	x, y := newStream(), newStream()
	return &socket{in: x, out: y}, &socket{in: y, out: x}
}

func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.cond.Broadcast()
}

func (s *socket) Read(p []byte) (int, error) {
	in := s.in
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		switch {
		case in.gone:
			return 0, net.ErrClosed
		case in.late:
			return 0, os.ErrDeadlineExceeded
		case len(in.bytes) > 0:
			n := copy(p, in.bytes)
			in.bytes = in.bytes[n:]
			return n, nil
		case in.ended:
			return 0, io.EOF
		}
		in.cond.Wait()
	}
}

func (s *socket) Write(p []byte) (n int, err error) {
	s.out.change(func() {
		if n = len(p); s.out.void {
			return
		}
		if s.out.ended || s.out.gone {
			n, err = 0, net.ErrClosed
			return
		}
		s.out.send(p)
	})
	return n, err
}

func (s *stream) send(p []byte) {
	at, n := time.Now().Add(s.far), len(s.coming)
	if s.far == 0 && n == 0 {
		s.bytes = append(s.bytes, p...)
		return
	}
	if n > 0 && s.coming[n-1].at.After(at) {
		at = s.coming[n-1].at // nothing overtakes what was sent before
	}
	s.coming = append(s.coming, parcel{at, slices.Clone(p)})
	time.AfterFunc(time.Until(at), func() { s.change(func() { s.arrive(time.Now()) }) })
}

// arrive has what was sent in time be there.
func (s *stream) arrive(now time.Time) {
	for len(s.coming) > 0 && !s.coming[0].at.After(now) {
		if !s.void {
			s.bytes = append(s.bytes, s.coming[0].bytes...)
		}
		s.coming = s.coming[1:]
	}
}

// Close ends both directions. The other end can still read what was written.
func (s *socket) Close() error {
	s.in.change(func() { s.in.gone = true })
	s.out.change(func() { s.out.arrive(time.Now().Add(s.out.far)); s.out.ended = true })
	s.SetDeadline(time.Time{})
	return nil
}

// sever breaks the connection as the network does: the other end is told so,
// while this one reads on what has arrived, and answers nobody.
func (s *socket) sever() {
	s.out.change(func() { s.out.bytes, s.out.ended, s.out.void = nil, true, true })
	s.in.change(func() { s.in.ended = true })
}

func (s *socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deadline != nil {
		s.deadline.Stop()
		s.deadline = nil
	}
	late := !t.IsZero() && !t.After(time.Now())
	s.in.change(func() { s.in.late = late })
	if !t.IsZero() && !late {
		s.deadline = time.AfterFunc(time.Until(t), func() {
			s.in.change(func() { s.in.late = true })
		})
	}
	return nil
}

func (s *socket) SetDeadline(t time.Time) error    { return s.SetReadDeadline(t) }
func (s *socket) SetWriteDeadline(time.Time) error { return nil }
func (s *socket) LocalAddr() net.Addr              { return &net.UnixAddr{Name: "local"} }
func (s *socket) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: "remote"} }
