package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"redlock-proxy/conf"
)

// activated starts the program as systemd does, which has opened a socket for it and keeps it.
func activated(t *testing.T, name string, f *os.File, args ...string) *program {
	t.Helper()
	cmd := command([]string{"LISTEN_FDS=1", "LISTEN_FDNAMES=" + name})
	cmd.Path, cmd.Err = "/bin/sh", nil
	cmd.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0], "--admin-listen="}, args...)
	cmd.ExtraFiles = []*os.File{f}
	return startCommand(t, cmd)
}

// opened is a listener as a supervisor has it.
func opened(t *testing.T, network, address string) (*os.File, string) {
	t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ln.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(); ln.Close() })
	return f, ln.Addr().String()
}

// TestSocketsOfTheSupervisorAreTakenOver: who connects while no process is there waits for the next.
func TestSocketsOfTheSupervisorAreTakenOver(t *testing.T) {
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "socket")} {
		f, address := opened(t, network, address)
		listen := strings.TrimPrefix(network+"://"+address, "tcp://")
		first := activated(t, "listen", f, "--listen", listen)
		first.await(tried)
		if err := answers(network, address); err != nil {
			t.Error(err)
		}
		first.end()
		conn, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "SET k t NX PX 30000\r\n")
		second := activated(t, "listen", f, "--listen", listen)
		second.await(tried)
		got := make([]byte, len("+OK\r\n"))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "+OK\r\n" {
			t.Errorf("%s: %q, %v", network, got, err)
		}
		second.end()
	}
}

func TestSocketsThatTheConfigurationDoesNotNameAreRefused(t *testing.T) {
	f, address := opened(t, "tcp", "127.0.0.1:0")
	for name, c := range map[string]struct{ listen, want string }{
		"redlock-proxy.socket": {address, "is called redlock-proxy.socket: call it listen, tls-listen, admin-listen"},
		"listen":               {"127.0.0.1:0", "a socket at " + address + " was passed to the process, and listen does not name that address"},
		"tls-listen":           {"127.0.0.1:0", "and tls-listen does not name that address"},
	} {
		p := activated(t, name, f, "--listen", c.listen)
		if code := p.exitCode(); code != exitFailed || !strings.Contains(p.logged(), c.want) {
			t.Errorf("%s: exit code %d, not %q", name, code, c.want)
		}
	}
}

// TestASocketAtWhichNobodyListensIsRefused: systemd passes one for each connection, with Accept=yes.
func TestASocketAtWhichNobodyListensIsRefused(t *testing.T) {
	_, address := opened(t, "tcp", "127.0.0.1:0")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	f, err := conn.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := activated(t, "listen", f, "--listen", conn.LocalAddr().String())
	p.await("the socket listen that was passed to the process is none to listen at: nobody has called")
	if code := p.exitCode(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}

func TestAddressesAreComparedAsTheyAreMeant(t *testing.T) {
	tcp := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	for _, c := range []struct {
		network, address string
		open             net.Addr
		want             bool
	}{
		{"tcp", ":6380", tcp("::", 6380), true},
		{"tcp", "0.0.0.0:6380", tcp("::", 6380), true},
		{"tcp", "127.0.0.1:6380", tcp("127.0.0.1", 6380), true},
		{"tcp", "127.0.0.1:6380", tcp("127.0.0.1", 6381), false},
		{"tcp", "127.0.0.1:6380", tcp("::", 6380), false},
		{"tcp", ":6380", tcp("127.0.0.1", 6380), false},
		{"tcp", "127.0.0.1:0", tcp("127.0.0.1", 6380), false},
		{"unix", "/run/s", &net.UnixAddr{Net: "unix", Name: "/run/s"}, true},
		{"unix", "/run/s", &net.UnixAddr{Net: "unix", Name: "/run/t"}, false},
		{"unix", "/run/s", tcp("::", 6380), false},
	} {
		if got := sameAddress(conf.Address{Network: c.network, Address: c.address}, c.open); got != c.want {
			t.Errorf("%s %s and %s: %s", c.network, c.address, c.open, strconv.FormatBool(got))
		}
	}
}
