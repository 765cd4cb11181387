package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
)

// logged is what the server's log holds.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// rig is a server over a fake engine. It ends with the test.
type rig struct {
	t      testing.TB
	engine *fakeEngine
	log    *logged
	server *Server
	pipes  *pipeListener
	served sync.WaitGroup

	remembered atomic.Int64 // bytes, for all clients
}

func newRig(t testing.TB, cfg Config) *rig {
	r := &rig{t: t, engine: &fakeEngine{}, log: &logged{}, pipes: newPipeListener()}
	if cfg.Commands.Version == "" {
		cfg.Commands.Version = "7.2.4"
	}
	if cfg.Commands.Password == nil {
		cfg.Commands.Password = func() string { return "" }
	}
	logger := hclog.New(&hclog.LoggerOptions{Output: r.log, Level: hclog.Debug})
	r.server = newServer(cfg, r.engine, logger, nil)
	cfg.Commands.Lookout = lookout{r.server}
	dialect := commands.NewDialect(cfg.Commands)
	r.server.dialect = dialect
	r.server.newSession = func(id int64) session { return scripted{dialect.Session(id)} }
	r.server.memory.remembered = func() int { return int(r.remembered.Load()) }
	r.serve(r.pipes)
	t.Cleanup(r.end)
	return r
}

func (r *rig) serve(ln net.Listener) {
	r.served.Go(func() {
		if err := r.server.Serve(ln); err != nil {
			r.t.Errorf("Serve: %v", err)
		}
	})
}

// end shuts the server down, by force if it must, and waits for everything.
func (r *rig) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r.server.Shutdown(ctx)
	r.served.Wait()
}

// dial makes a connection over a pipe.
func (r *rig) dial() *client {
	ours, theirs := net.Pipe()
	r.pipes.conns <- theirs
	c := &client{t: r.t, nc: ours}
	r.t.Cleanup(func() { ours.Close() })
	return c
}

// dialTCP makes a connection over a real socket.
func (r *rig) dialTCP() *client {
	r.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.serve(ln)
	return r.dialAt(ln.Addr())
}

func (r *rig) dialAt(addr net.Addr) *client {
	r.t.Helper()
	nc, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	return &client{t: r.t, nc: nc}
}

// client is the other end.
type client struct {
	t  testing.TB
	nc net.Conn
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.nc, text); err != nil {
		c.t.Errorf("send: %v", err)
	}
}

// expect reads exactly text.
func (c *client) expect(text string) {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, len(text))
	n, err := io.ReadFull(c.nc, got)
	if string(got[:n]) != text {
		c.t.Fatalf("got %s (%v), want %s", short(got[:n]), err, short([]byte(text)))
	}
}

// expectEnd reads text and then the end of the connection.
func (c *client) expectEnd(text string) {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(c.nc)
	var timeout net.Error
	if string(got) != text || errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatalf("got %s (%v), want %s and the end", short(got), err, short([]byte(text)))
	}
}

// expectSilence: nothing can be read now. In a synctest bubble only.
func (c *client) expectSilence() {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(time.Millisecond))
	got := make([]byte, 100)
	if n, _ := c.nc.Read(got); n > 0 {
		c.t.Fatalf("got %q, want nothing", got[:n])
	}
}

// pipeListener hands out the connections that a test puts in.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func short(b []byte) string {
	if len(b) > 300 {
		return fmt.Sprintf("%q and %d bytes more", b[:300], len(b)-300)
	}
	return fmt.Sprintf("%q", b)
}
