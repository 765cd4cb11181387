package proxy

import (
	"os"
	"path/filepath"
	"runtime"
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

// Nor does he wait longer for signals that come in the meantime, or end with them.
func TestSignalsDoNotKeepTheLeader(t *testing.T) {
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(epoll)
	p := &poller{fd: epoll}
	thread, ended := make(chan int), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		thread <- syscall.Gettid()
		if p.lookFor(50) {
			t.Error("something has come")
		}
	}()
	id := <-thread
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		select {
		case <-ended:
			return
		default:
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("he waits on")
		}
		syscall.Tgkill(syscall.Getpid(), id, syscall.SIGURG) // which the runtime itself uses
	}
}

// Whoever connects as descriptors run out has a goroutine; who does later is waited for with others.
func TestPollersBeginWhereTheyCouldNotBefore(t *testing.T) {
	r := newRig(t, Config{})
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	c := &conn{srv: r.server}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	first := r.server.pollers.of(c)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if first != nil {
		t.Fatal("there was no descriptor for it")
	}
	if r.server.pollers.of(c) == nil {
		t.Fatal("none has begun since")
	}
	ours := r.dialTCP()
	ours.send("ping\r\n")
	ours.expect("+PONG\r\n")
}

// Where there is one processor nobody else would wait for others meanwhile, so Go's poller knows what he waits for.
func TestLeaderOfOneProcessorWaitsInGoPoller(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := newRig(t, Config{})
	r.engine.auto = func(_ *fakeEngine, a asked) { a.asker.Answer(won).Flush() }
	c := r.dialTCP()
	asks := func() {
		c.send("write a\r\n")
		c.expect("$1\r\na\r\n")
	}
	asks()
	ready := r.server.pollers.all[0].ready
	known := ready.FD()
	for range 40 * often {
		asks()
	}
	if ready.FD() != known {
		t.Error("he has had it forget")
	}
}
