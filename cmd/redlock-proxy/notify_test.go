package main

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// supervisor is the other end of NOTIFY_SOCKET.
type supervisor struct {
	t    *testing.T
	conn *net.UnixConn
}

func newSupervisor(t *testing.T, name string) *supervisor {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &supervisor{t, conn}
}

// next is the next message.
func (s *supervisor) next() string {
	s.t.Helper()
	s.conn.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 4096)
	n, err := s.conn.Read(b)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b[:n])
}

// turn is the next message that tells of more than how the process stands.
func (s *supervisor) turn() string {
	s.t.Helper()
	for {
		if m := s.next(); !strings.HasPrefix(m, "STATUS=") {
			return m
		}
	}
}

// nextBut is the next of these that is another one than skipped.
func (s *supervisor) nextBut(skipped string) string {
	s.t.Helper()
	for {
		if m := s.turn(); m != skipped {
			return m
		}
	}
}

func socketNames(t *testing.T) []string {
	names := []string{filepath.Join(t.TempDir(), "notify")}
	if runtime.GOOS == "linux" {
		names = append(names, fmt.Sprintf("@redlock-proxy-test-%d", os.Getpid()))
	}
	return names
}

// TestASupervisorThatDoesNotReadHoldsUpNothing: what he is sent fills his queue.
func TestASupervisorThatDoesNotReadHoldsUpNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	newSupervisor(t, name)
	full, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Net: "unixgram", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for err == nil {
		full.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, err = full.Write([]byte("STATUS="))
	}
	p := startProgram(t, []string{"NOTIFY_SOCKET=" + name}, "--listen", "127.0.0.1:0", "--admin-listen=")
	p.await(tried)
	p.end()
	if !strings.Contains(p.logged(), "the supervisor cannot be told how the process fares") {
		t.Error("he was told")
	}
}

func TestNotifierSpeaksToPathsAndAbstractNames(t *testing.T) {
	for _, name := range socketNames(t) {
		s := newSupervisor(t, name)
		n, err := newNotifier(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			send func() error
			want string
		}{
			{n.ready, `^READY=1$`},
			{n.reloading, `^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*$`},
			{n.watchdog, `^WATCHDOG=1$`},
			{func() error { return n.stopping(7*time.Second, "draining: no client left") }, `^STOPPING=1\nEXTEND_TIMEOUT_USEC=7000000\nSTATUS=draining: no client left$`},
			{func() error { return n.status("well") }, `^STATUS=well$`},
		} {
			if err := c.send(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := s.next(); !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("%s: got %q, want %s", name, got, c.want)
			}
		}
		n.close()
	}
}

func TestNobodyIsToldWithoutASocket(t *testing.T) {
	n, err := newNotifier("")
	if n != nil || err != nil {
		t.Fatalf("%v, %v", n, err)
	}
	if err := n.ready(); err != nil {
		t.Error(err)
	}
	n.close()
	if _, err := newNotifier(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a socket that is not there is no error")
	}
}

// systemd compares the time of RELOADING with its own clock.
func TestMonotonicGoesWithTheSystemsClock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systemd is for Linux")
	}
	before, start := monotonic(), time.Now()
	if before <= 0 {
		t.Fatalf("monotonic() is %v", before)
	}
	for time.Since(start) < 5*time.Millisecond {
	}
	if moved := monotonic() - before; moved < 5*time.Millisecond || moved > patience {
		t.Errorf("monotonic() has moved by %v in 5ms", moved)
	}
}

func TestWatchdogIsToldTwiceInItsTime(t *testing.T) {
	for _, c := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"20000000", "", 10 * time.Second},
		{"20000000", strconv.Itoa(os.Getpid()), 10 * time.Second},
		{"20000000", "1", 0},
		{"", "", 0},
		{"0", "", 0},
		{"-5", "", 0},
		{"soon", "", 0},
		{"99999999999999999", "", 0},
	} {
		got := watchdogInterval(func(name string) string {
			return map[string]string{"WATCHDOG_USEC": c.usec, "WATCHDOG_PID": c.pid}[name]
		})
		if got != c.want {
			t.Errorf("WATCHDOG_USEC=%s WATCHDOG_PID=%s: %v, want %v", c.usec, c.pid, got, c.want)
		}
	}
}

func TestSupervisorHearsOfEveryTurn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	s := newSupervisor(t, name)
	p := startProgram(t, []string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=200000"}, "--listen", "127.0.0.1:0")
	const alive = "WATCHDOG=1"
	if got := s.nextBut(alive); got != "READY=1" {
		t.Errorf("first %q, want READY=1", got)
	}
	for range 3 {
		if got := s.turn(); got != alive {
			t.Errorf("then %q, want %s", got, alive)
		}
	}
	p.signal(syscall.SIGHUP)
	if got := s.nextBut(alive); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9]`).MatchString(got) {
		t.Errorf("on SIGHUP %q", got)
	}
	if got := s.nextBut(alive); got != "READY=1" {
		t.Errorf("after the reload %q, want READY=1", got)
	}
	p.signal(syscall.SIGTERM)
	if got := s.nextBut(alive); !regexp.MustCompile(`^STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000\nSTATUS=draining: [01] clients? left$`).MatchString(got) {
		t.Errorf("on SIGTERM %q, want STOPPING=1", got)
	}
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Where clients have to show certificates, the proxy's own is mostly none of a client's.
func TestWatchdogIsToldWhereOnlyClientsMayShowCertificates(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	s := newSupervisor(t, name)
	cert, key := certificateFor(t, 1, x509.ExtKeyUsageServerAuth)
	certPath := write(t, "cert", cert)
	args := []string{"--listen=", "--tls-cert-file", certPath, "--tls-key-file", write(t, "key", key), "--tls-ca-cert-file", certPath}
	p := startProgram(t, []string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=2000000"}, append(args, "--tls-listen", "127.0.0.1:0")...)
	address := p.await(`listening: address=(\S+)`)
	for until := time.Now().Add(patience); s.next() != "WATCHDOG=1"; {
		if time.Now().After(until) {
			t.Fatal("the supervisor hears of no life")
		}
	}
	if stdout, stderr, code := runProgram(t, nil, append([]string{"ping", "--tls-listen", address}, args...)...); code != 0 || !strings.Contains(stdout, "bad certificate") {
		t.Errorf("ping: exit code %d\n%s%s", code, stdout, stderr)
	}
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A process that accepts connections and does not answer them is not alive,
// and one that answers again is.
func TestWatchdogIsToldOnlyWhileThereIsAnAnswer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	s := newSupervisor(t, name)
	n, err := newNotifier(name)
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	p := &process{
		log: hclog.New(&hclog.LoggerOptions{Output: w}), live: inEffect(loaded(t)), notifier: n,
		listeners: []net.Listener{ln}, stopped: make(chan struct{}),
	}
	p.running.Go(func() { p.watch(20 * time.Millisecond) })
	line := make([]byte, 200)
	got, err := r.Read(line)
	if err != nil || !regexp.MustCompile(`\[ERROR\].*does not answer itself`).Match(line[:got]) {
		t.Errorf("the log says %q, %v", line[:got], err)
	}
	go io.Copy(io.Discard, r) // on a busy machine it says so again
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte("+PONG\r\n"))
			conn.Close()
		}
	}()
	if got := s.next(); got != "WATCHDOG=1" {
		t.Errorf("the supervisor hears %q", got)
	}
	close(p.stopped)
	p.running.Wait()
	ln.Close()
	<-answered
	w.Close()
}
