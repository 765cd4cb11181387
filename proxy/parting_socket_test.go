//go:build linux

package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestNoAnswerIsLostToAShutdown: clients that ask without pause, over sockets, meet the end
// between an answer and the next question, or have a question that nobody carried out.
func TestNoAnswerIsLostToAShutdown(t *testing.T) {
	r := newRig(t, Config{})
	var group sync.WaitGroup
	var begun sync.WaitGroup
	for _, c := range r.dialMany(20) {
		begun.Add(1)
		group.Go(func() {
			c.nc.SetDeadline(time.Now().Add(patience))
			answer := make([]byte, len("+PONG\r\n"))
			for n := 0; ; n++ {
				if n == 10 {
					begun.Done()
				}
				if _, err := io.WriteString(c.nc, "ping\r\n"); err != nil {
					return
				}
				got, err := io.ReadFull(c.nc, answer)
				if err == nil {
					continue
				}
				if got > 0 || n < 10 || !errors.Is(err, io.EOF) {
					t.Errorf("after %d answers: %q, %v", n, answer[:got], err)
				}
				return
			}
		})
	}
	begun.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), quietTime)
	defer cancel()
	r.server.Shutdown(ctx) // to the end of which some may ask
	group.Wait()
}

// queue is a listener that accepts nothing before it is to end.
type queue struct {
	*net.TCPListener
	ending chan struct{}
	once   sync.Once
}

func (q *queue) Accept() (net.Conn, error) {
	<-q.ending
	return q.TCPListener.Accept()
}

func (q *queue) SetDeadline(t time.Time) error {
	defer q.once.Do(func() { close(q.ending) })
	return q.TCPListener.SetDeadline(t)
}

func TestWhoWaitsToBeAcceptedIsServed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Config{})
	r.serve(&queue{TCPListener: ln.(*net.TCPListener), ending: make(chan struct{})})
	eventually(t, "two listeners", func() bool {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		return len(r.server.listeners) == 2
	})
	var clients []*client
	for range 50 {
		c := r.dialAt(ln.Addr())
		c.send("ping\r\n")
		clients = append(clients, c)
	}
	ended := r.shutdown()
	for _, c := range clients {
		c.expectEnd("+PONG\r\n")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestOverTLSTheEndIsCleanToo: what the client sends behind it is thrown away, and does not reset
// the connection before the client has read its answer.
func TestOverTLSTheEndIsCleanToo(t *testing.T) {
	r := newRig(t, Config{})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(tls.NewListener(inner, &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}))
	c := r.dialAt(inner.Addr())
	raw := c.nc
	c.nc = tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	c.send("write k\r\n")
	r.awaitRequest()
	ended := r.shutdown()
	eventually(t, "the shutdown", r.server.draining.Load)
	r.engine.answer(t, "k", won)
	eventually(t, "the end of the connection", func() bool {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		for _, c := range r.server.conns {
			c.mu.Lock()
			phase := c.phase
			c.mu.Unlock()
			if phase < closing {
				return false
			}
		}
		return true
	})
	c.send("ping\r\n")
	c.nc.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(c.nc); string(got) != "$1\r\nk\r\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	c.nc.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWhoCameByAUnixSocketIsPartedFromToo(t *testing.T) {
	r := newRig(t, Config{})
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	r.serve(ln)
	c := r.dialAt(ln.Addr())
	c.send("write k\r\n")
	r.awaitRequest()
	ended := r.shutdown()
	eventually(t, "the shutdown", r.server.draining.Load)
	c.send("write l\r\n")
	eventually(t, "both requests", func() bool {
		r.engine.mu.Lock()
		defer r.engine.mu.Unlock()
		return len(r.engine.waiting) == 2
	})
	r.engine.answer(t, "k", won)
	c.expect("$1\r\nk\r\n") // and not the end, as more was asked
	r.engine.answer(t, "l", won)
	c.expectEnd("$1\r\nl\r\n")
	c.nc.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
