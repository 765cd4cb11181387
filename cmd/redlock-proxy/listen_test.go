package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"redlock-proxy/conf"
)

func loaded(t *testing.T, args ...string) *conf.Config {
	t.Helper()
	cfg, err := conf.Load(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func inEffect(cfg *conf.Config) *atomic.Pointer[conf.Config] {
	live := &atomic.Pointer[conf.Config]{}
	live.Store(cfg)
	return live
}

// leaveBehind makes the socket of a process that was killed.
func leaveBehind(t *testing.T, path string) {
	t.Helper()
	left, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
}

func TestSocketThatWasLeftBehindIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	leaveBehind(t, path)
	cfg := loaded(t, "--listen", "unix://"+path)
	listeners, err := listen(cfg, inEffect(cfg), newDoor(cfg, nil))
	if err != nil {
		t.Fatal(err)
	}
	closeAll(listeners)
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is left behind")
	}
}

// TestOneOfManyReplacesWhatWasLeftBehind: they start at once.
func TestOneOfManyReplacesWhatWasLeftBehind(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		path := filepath.Join(dir, strconv.Itoa(i))
		leaveBehind(t, path)
		cfg := loaded(t, "--listen", "unix://"+path)
		var opened atomic.Int32
		var starting sync.WaitGroup
		for range 4 {
			starting.Go(func() {
				if listeners, err := listen(cfg, inEffect(cfg), newDoor(cfg, nil)); err == nil {
					opened.Add(1)
					t.Cleanup(func() { closeAll(listeners) })
				}
			})
		}
		starting.Wait()
		if n := opened.Load(); n != 1 {
			t.Fatalf("%d listen at one path", n)
		}
	}
}

func TestSocketThatIsListenedToStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	cfg := loaded(t, "--listen", "unix://"+path)
	if _, err := listen(cfg, inEffect(cfg), newDoor(cfg, nil)); err == nil || !strings.Contains(err.Error(), "address already in use: end the process that listens there, have both share it by reuse-port") {
		t.Errorf("error %v", err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the other's socket is gone: %v", err)
	}
	conn.Close()
}

// TestSocketWhoseQueueIsFullIsListenedTo: whoever listens there accepts nobody, as he hangs.
func TestSocketWhoseQueueIsFullIsListenedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for {
		conn, err := net.Dial("unix", path)
		if err != nil {
			break
		}
		defer conn.Close()
	}
	if taken, err := removeStaleSocket("listen", path); !taken || err != nil {
		t.Errorf("%v, %v", taken, err)
	}
}

func TestFileThatIsNoSocketStays(t *testing.T) {
	path := write(t, "precious", "data")
	cfg := loaded(t, "--listen", "unix://"+path)
	if _, err := listen(cfg, inEffect(cfg), newDoor(cfg, nil)); err == nil || !strings.Contains(err.Error(), "there is a file that is no socket") {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "data" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

func TestEitherAllListenersAreOpenedOrNone(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	path := filepath.Join(t.TempDir(), "socket")
	cfg := loaded(t, "--listen", "unix://"+path, "--listen", busy.Addr().String())
	if listeners, err := listen(cfg, inEffect(cfg), newDoor(cfg, nil)); err == nil || listeners != nil {
		t.Errorf("%v, %v", listeners, err)
	}
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("the first listener is still open")
	}
}

func TestAddressInUseIsNamedWithTheCure(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, stderr, code := runProgram(t, nil, "--listen", ln.Addr().String())
	if code != 1 || !strings.Contains(stderr, "address already in use: end the process that listens there, have both share it by reuse-port, or choose another address with listen") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
