package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"redlock-proxy/conf"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// answers is nil if whoever listens there answers.
func answers(network, address string) error {
	_, err := endpoint{network: network, address: address}.ask(patience, "PING")
	return err
}

func (p *program) end() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.exitCode(); code != 0 {
		p.t.Errorf("exit code %d", code)
	}
}

const tried = "every master has been tried"

func TestANewProgramListensBesideTheOldOne(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SO_REUSEPORT is Linux's")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("s", max(conf.MaxSocketPath-len(dir)-1, 6))) // as long as it may be
	sock := []string{"--listen", "unix://" + path, "--reuse-port", "yes", "--admin-listen="}
	old := startProgram(t, nil, append(sock, "--listen", "127.0.0.1:0")...)
	port := old.await(`listening: address=(127\.0\.0\.1:\d+)`)
	old.await(tried)
	if _, stderr, code := runProgram(t, nil, "--listen", port, "--admin-listen="); code == 0 || !strings.Contains(stderr, "reuse-port") {
		t.Errorf("one that does not share its address: exit code %d, %s", code, stderr)
	}
	fresh := startProgram(t, nil, append(sock, "--listen", port)...)
	fresh.await(tried)
	old.end()
	for network, address := range map[string]string{"tcp": port, "unix": path} {
		if err := answers(network, address); err != nil {
			t.Errorf("when the old one has ended: %v", err)
		}
	}
	fresh.end()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestANewProgramThatCannotStartLeavesTheOldOneItsSocket: it finds that out by its last address.
func TestANewProgramThatCannotStartLeavesTheOldOneItsSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	args := []string{"--listen", "unix://" + path, "--reuse-port", "yes"}
	old := startProgram(t, nil, append(args, "--admin-listen=")...)
	old.await(tried)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	if _, stderr, code := runProgram(t, nil, append(args, "--admin-listen", busy.Addr().String())...); code != exitFailed || !strings.Contains(stderr, "address already in use") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if err := answers("unix", path); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	old.end()
}

// TestANewProgramThatIsEndedWhileItWaitsTakesOverNothing: its master never answers.
func TestANewProgramThatIsEndedWhileItWaitsTakesOverNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	args := []string{"--listen", "unix://" + path, "--reuse-port", "yes", "--admin-listen=", "--shutdown-timeout", "1s"}
	old := startProgram(t, nil, args...)
	old.await(tried)
	address, connected := silentMaster(t)
	fresh := startProgram(t, nil, append(args, "--master", address)...)
	<-connected
	fresh.end()
	if strings.Contains(fresh.logged(), "listening") {
		t.Error("it has listened")
	}
	if err := answers("unix", path); err != nil {
		t.Error(err)
	}
	old.end()
}

func TestItServesForDrainTimeAndIsNotReady(t *testing.T) {
	p := startProgram(t, nil, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain-time", "10m")
	address := p.await(`listening: address=(\S+)`)
	page := p.await(`the admin listener is open: at=(\S+)`)
	p.await(tried)
	p.signal(syscall.SIGTERM)
	p.await("not ready any more, and serving")
	if _, stderr, code := runProgram(t, nil, "ready", "--listen", address); code != exitFailed || !strings.Contains(stderr, "it is shutting down") {
		t.Errorf("ready: exit code %d, %s", code, stderr)
	}
	reply, err := http.Get(page + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "this proxy is shutting down") {
		t.Errorf("/readyz: %d %s, %v", reply.StatusCode, body, err)
	}
	e := endpoint{network: "tcp", address: address}
	if got, err := e.ask(patience, "SET", "k", "t", "NX", "PX", "30000"); err != nil || got != "OK" {
		t.Errorf("SET: %q, %v", got, err)
	}
	if got, err := e.ask(patience, "LOCK", "STATUS"); err != nil || !strings.HasPrefix(got, "this proxy is shutting down, and grants locks until then") {
		t.Errorf("LOCK STATUS: %q, %v", got, err)
	}
	p.hurry()
}

// hurry signals again, later than what is taken for the same signal.
func (p *program) hurry() {
	p.t.Helper()
	time.Sleep(sameSignal)
	p.end()
}
