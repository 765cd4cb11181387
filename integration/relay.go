package integration

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Relay stands between a client and a server and spoils what passes, on
// request. What it does to one direction it does to all its connections, and
// to those yet to come.
type Relay struct {
	Addr string // where it listens: the server's stand-in

	target string
	l      net.Listener
	closed chan struct{}
	wg     sync.WaitGroup

	// Requests is the way from the client to the server, Replies the way back.
	// They change only in Strand, by the goroutine that uses the Relay.
	Requests, Replies *Way

	mu    sync.Mutex // guards what follows, and Requests and Replies against accept
	cut   bool
	conns map[net.Conn]bool // true: a client's side
}

// Way is one direction through a Relay.
type Way struct {
	closed <-chan struct{} // the Relay's

	mu      sync.Mutex // guards what follows
	held    chan struct{}
	delay   time.Duration
	rewrite func([]byte) []byte
}

// Hold keeps back what comes from now on. What was kept back when the sender
// closed its connection is still delivered at Release: so it is with what the
// network and the kernel still hold.
func (w *Way) Hold() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil {
		w.held = make(chan struct{})
	}
}

// Release delivers what Hold kept back, and holds no more.
func (w *Way) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil {
		close(w.held)
		w.held = nil
	}
}

// Delay makes everything arrive that much later. Zero: at once.
func (w *Way) Delay(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = d
}

// Rewrite passes every chunk of bytes through f; nil: as it came.
func (w *Way) Rewrite(f func([]byte) []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rewrite = f
}

// pass is what becomes of a chunk; ok is false once the relay is closed.
func (w *Way) pass(b []byte) (out []byte, ok bool) {
	w.mu.Lock()
	held, delay, rewrite := w.held, w.delay, w.rewrite
	w.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-w.closed:
			return nil, false
		}
	}
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-w.closed:
			return nil, false
		}
	}
	if rewrite != nil {
		b = rewrite(b)
	}
	return b, true
}

// NewRelay listens on a free port and relays to target, host:port or the path
// of a unix socket.
func NewRelay(target string) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	closed := make(chan struct{})
	r := &Relay{
		Addr: l.Addr().String(), target: target, l: l, closed: closed,
		Requests: &Way{closed: closed}, Replies: &Way{closed: closed},
		conns: make(map[net.Conn]bool),
	}
	r.wg.Go(r.accept)
	return r, nil
}

// Cut ends all connections and lets no new one through.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	for c := range r.conns {
		c.Close()
	}
}

// Restore undoes Cut for connections yet to come.
func (r *Relay) Restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = false
}

// Lead has connections yet to come lead to another target.
func (r *Relay) Lead(target string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target = target
}

// Inject sends bytes to all clients, as if the server had said them.
func (r *Relay) Inject(b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for c, fromClient := range r.conns {
		if fromClient {
			_, writeErr := c.Write(b)
			err = errors.Join(err, writeErr)
		}
	}
	return err
}

// Strand holds back what clients send on the connections that there are, for
// ever or until the Way returned is released, and lets new connections pass.
func (r *Relay) Strand() *Way {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.Requests
	old.Hold()
	r.Requests, r.Replies = &Way{closed: r.closed}, &Way{closed: r.closed}
	return old
}

// Close ends everything and waits for it.
func (r *Relay) Close() error {
	close(r.closed)
	err := r.l.Close()
	r.Cut()
	r.wg.Wait()
	return err
}

func (r *Relay) accept() {
	for {
		client, err := r.l.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		target := r.target
		r.mu.Unlock()
		server, err := net.DialTimeout(network(target), target, time.Second)
		if err != nil {
			client.Close()
			continue
		}
		requests, replies, ok := r.add(client, server)
		if !ok {
			client.Close()
			server.Close()
			continue
		}
		r.wg.Go(func() { copyWay(server, client, requests) })
		r.wg.Go(func() {
			defer r.remove(client, server)
			copyWay(client, server, replies)
		})
	}
}

func (r *Relay) add(client, server net.Conn) (requests, replies *Way, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cut {
		return nil, nil, false
	}
	r.conns[client], r.conns[server] = true, false
	return r.Requests, r.Replies, true
}

// remove is called when the server has ended the connection: what it would be
// sent from then on has no reader.
func (r *Relay) remove(client, server net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
	client.Close()
	server.Close()
}

// copyWay ends when nothing more comes from src. A dst that is gone is no
// reason: the server's end of the connection is closed by the server.
func copyWay(dst, src net.Conn, way *Way) {
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			out, ok := way.pass(buf[:n])
			if !ok {
				return
			}
			_, _ = dst.Write(out)
		}
		if err != nil {
			if half, ok := dst.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			}
			return
		}
	}
}
