package main

import (
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"redlock-proxy/quorum"
)

func TestStandingIsToldInALine(t *testing.T) {
	masters := make([]quorum.MasterStatus, 3)
	for _, c := range []struct {
		draining, ready bool
		clients         int
		status          quorum.Status
		want            string
	}{
		{false, true, 12, quorum.Status{CanVote: 3}, "3 of 3 masters vote; 12 clients"},
		{false, true, 1, quorum.Status{CanVote: 2, Shortage: "1 down"}, "2 of 3 masters vote; 1 client"},
		{false, false, 0, quorum.Status{CanVote: 1, Shortage: "2 down"}, "NOQUORUM 1 of 3 masters can vote, 2 are needed: 2 down; 0 clients"},
		{true, false, 5, quorum.Status{CanVote: 3}, "draining: 5 clients left"},
	} {
		c.status.Masters, c.status.Quorum = masters, 2
		if got := statusLine(c.draining, c.ready, c.clients, &c.status); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestStatusIsKeptTrue from the start on, through changes, to the last client.
func TestStatusIsKeptTrue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	s := newSupervisor(t, name)
	p := startProgram(t, []string{"NOTIFY_SOCKET=" + name}, "--listen", "127.0.0.1:0", "--admin-listen=", "--drain-time", "10m")
	address := p.await(`listening: address=(\S+)`)
	if got := s.next(); got != "READY=1" {
		t.Errorf("first %q", got)
	}
	s.awaitStatus("3 of 3 masters vote; 0 clients")
	client := dialTo(t, address)
	s.awaitStatus("3 of 3 masters vote; 1 client")
	p.signal(syscall.SIGTERM)
	if got := s.turn(); !regexp.MustCompile(`^STOPPING=1\nEXTEND_TIMEOUT_USEC=615000000\nSTATUS=draining: 1 client left$`).MatchString(got) {
		t.Errorf("on SIGTERM %q", got)
	}
	client.Close()
	s.awaitStatus("draining: 0 clients left")
	p.hurry()
}

// awaitStatus waits for a status, past others: a slow machine is a while on the way.
func (s *supervisor) awaitStatus(want string) {
	s.t.Helper()
	for got := ""; got != want; {
		m, ok := strings.CutPrefix(s.next(), "STATUS=")
		if got = m; !ok {
			s.t.Fatalf("%q, want the status %q", got, want)
		}
	}
}

func dialTo(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
