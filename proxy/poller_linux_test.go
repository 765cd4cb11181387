package proxy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"redlock-proxy/quorum/netpoll"
)

// Where Go's poller does not take what the leader waits for, he waits by himself, until the poller is closed.
func TestLeaderWaitsWhereGoPollerRefuses(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "f")) // which it never takes
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ready, err := netpoll.Duplicate(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(epoll)
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	defer to.Close()
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, int(from.Fd()), &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: 1}); err != nil {
		t.Fatal(err)
	}
	p := &poller{fd: epoll, ready: ready}
	p.looks = p.look
	time.AfterFunc(30*time.Millisecond, func() { to.Write([]byte("x")) })
	if !p.awaits() || p.n != 1 {
		t.Fatal("he does not wait")
	}
	from.Read(make([]byte, 1))
	time.AfterFunc(30*time.Millisecond, func() { ready.Close() })
	if p.awaits() {
		t.Fatal("he goes on behind the end")
	}
}
