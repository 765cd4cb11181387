package proxy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long is waited for what must come. It ends only what would hang.
const patience = time.Minute

// eventually waits for what another process's kernel, or another goroutine,
// is about to do.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func TestASlowReaderHoldsUpNobodyAndGetsEverything(t *testing.T) {
	r := newRig(t, Config{Limits: Limits{MaxUnread: 1 << 20}})
	slow := r.dialTCP()
	other := r.dialAt(slow.nc.RemoteAddr())
	slow.send(strings.Repeat("big 500000\r\n", 200))
	eventually(t, "the slow reader is owed much", func() bool {
		other.send("ping\r\n")
		other.expect("+PONG\r\n")
		return r.server.oneOwedMuch()
	})
	for range 200 {
		slow.expect("$500000\r\n" + strings.Repeat("x", 500000) + "\r\n")
	}
	slow.send("ping\r\n")
	slow.expect("+PONG\r\n")
	if got := r.server.stats.outputLimit.Load(); got != 0 {
		t.Errorf("%d clients were cut off", got)
	}
}

// oneOwedMuch tells that a client is waited for, to read.
func (s *Server) oneOwedMuch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.mu.Lock()
		much := c.owesMuch() && c.waits
		c.mu.Unlock()
		if much {
			return true
		}
	}
	return false
}

// An engine's goroutine answers a client whose socket is full: it must not
// wait, whatever the client does.
func TestAFullSocketNeverBlocksTheEngine(t *testing.T) {
	r := newRig(t, Config{})
	c := r.dialTCP()
	c.send("writebig a\r\nwrite b\r\n")
	eventually(t, "the requests are put", func() bool { return r.engine.keys() == "write:a write:b" })
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.engine.answer(t, "a", won)
		r.engine.answer(t, "b", won)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the engine is blocked")
	}
	c.expect("$10000000\r\n" + strings.Repeat("x", 10000000) + "\r\n$1\r\nb\r\n")
}

// A close with unread input resets the connection, and a reset may overtake
// the reply that says why.
func TestAMisfitThatSendsOnReadsItsErrorAndACleanEnd(t *testing.T) {
	r := newRig(t, Config{})
	c := r.dialTCP()
	c.send("*x\r\n" + strings.Repeat("x", 100_000))
	c.expect("-ERR Protocol error: invalid multibulk length\r\n")
	c.send("still sending")
	if got, err := io.ReadAll(c.nc); len(got) > 0 || err != nil {
		t.Errorf("got %q (%v)", got, err)
	}
}

func TestAHalfClosedClientGetsItsReplies(t *testing.T) {
	r := newRig(t, Config{})
	c := r.dialTCP()
	c.send("write a\r\nping\r\n*1\r\n$4\r\npi")
	c.nc.(*net.TCPConn).CloseWrite()
	eventually(t, "the request is put", func() bool { return r.engine.keys() == "write:a" })
	r.engine.answer(t, "a", won)
	c.expectEnd("$1\r\na\r\n+PONG\r\n")
}

func TestOneClientTooManyIsTurnedAway(t *testing.T) {
	r := newRig(t, Config{MaxClients: 2})
	a, b := r.dialTCP(), r.dialTCP()
	for _, c := range []*client{a, b} {
		c.send("ping\r\n")
		c.expect("+PONG\r\n")
	}
	r.dialTCP().expectEnd("-ERR max number of clients reached\r\n")
	a.nc.Close()
	eventually(t, "there is room again", func() bool {
		c := r.dialTCP()
		defer c.nc.Close()
		io.WriteString(c.nc, "ping\r\n")
		got, _ := io.ReadAll(io.LimitReader(c.nc, 7))
		return string(got) == "+PONG\r\n"
	})
	if r.server.stats.rejectedConnections.Load() == 0 {
		t.Error("not counted")
	}
}

func TestUnixSocketsAndTLSCarryTheSame(t *testing.T) {
	r := newRig(t, Config{})
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	r.serve(ln)
	certificate := selfSigned(t)
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(tls.NewListener(inner, &tls.Config{Certificates: []tls.Certificate{certificate}}))

	overTLS := r.dialAt(inner.Addr())
	overTLS.nc = tls.Client(overTLS.nc, &tls.Config{InsecureSkipVerify: true})
	for _, c := range []*client{r.dialAt(ln.Addr()), overTLS} {
		for range 3 {
			c.send("ping\r\nbig 100000\r\nwrite k\r\n")
			eventually(t, "the request is put", func() bool {
				r.engine.mu.Lock()
				defer r.engine.mu.Unlock()
				return len(r.engine.waiting) == 1
			})
			r.engine.answer(t, "k", won)
			c.expect("+PONG\r\n$100000\r\n" + strings.Repeat("x", 100000) + "\r\n$1\r\nk\r\n")
		}
		c.send("quit\r\n")
		c.expectEnd("+OK\r\n")
	}
}

func TestAClientThatIsNotTLSCostsOnlyItself(t *testing.T) {
	r := newRig(t, Config{})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(tls.NewListener(inner, &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}))
	c := r.dialAt(inner.Addr())
	c.send("PING\r\nPING\r\n")
	c.nc.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(c.nc); strings.Contains(string(got), "PONG") || errors.Is(err, syscall.ETIMEDOUT) {
		t.Errorf("got %q (%v)", got, err)
	}
}

func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// flaky fails to accept twice, as a process without descriptors does.
type flaky struct {
	*pipeListener
	failures int
}

func (l *flaky) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.pipeListener.Accept()
}

func TestAcceptGoesOnAfterErrors(t *testing.T) {
	r := newRig(t, Config{})
	ln := &flaky{newPipeListener(), 5}
	r.serve(ln)
	ours, theirs := net.Pipe()
	ln.conns <- theirs
	c := &client{t: t, nc: ours}
	c.send("ping\r\n")
	c.expect("+PONG\r\n")
	ours.Close()
	if got := strings.Count(r.log.String(), "cannot be accepted"); got != 1 {
		t.Errorf("%d lines for one trouble, want 1:\n%s", got, r.log)
	}
}

func TestServeReturnsAnErrorWhenItsListenerIsClosedByOthers(t *testing.T) {
	r := newRig(t, Config{})
	ln := newPipeListener()
	ln.Close()
	if err := r.server.Serve(ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	r := newRig(t, Config{})
	for range 20 {
		c := r.dialTCP()
		c.send("big 3000000\r\nwrite k\r\n")
	}
	eventually(t, "all clients are served", func() bool { return strings.Count(r.engine.keys(), "write:k") == 20 })
	r.end()
	eventually(t, "all goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
}
