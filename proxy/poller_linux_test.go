package proxy

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/netpoll"
)

// leader is a poller that is to wait for input, of which Go's poller is not told yet.
func leader(t *testing.T) (p *poller, input *os.File) {
	t.Helper()
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(epoll) })
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.Close(); to.Close() })
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, int(from.Fd()), &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(from.Fd())}); err != nil {
		t.Fatal(err)
	}
	p = &poller{fd: epoll, stay: new(fakeStay)}
	p.looks = p.look
	return p, to
}

// Where Go's poller does not take what the leader waits for, he waits by himself, until it does, or the poller is closed.
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
	p, input := leader(t)
	p.ready = ready
	time.AfterFunc(30*time.Millisecond, func() { input.Write([]byte("x")) })
	if !p.awaits() || p.n != 1 {
		t.Fatal("he does not wait")
	}
	syscall.Read(int(p.events[0].Fd), make([]byte, 1))
	takes, err := netpoll.Duplicate(p.fd)
	if err != nil {
		t.Fatal(err)
	}
	defer takes.Close()
	if err := syscall.Dup3(takes.FD(), ready.FD(), syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(30*time.Millisecond, func() { input.Write([]byte("x")) })
	if !p.awaits() || p.n != 1 {
		t.Fatal("he does not wait any more")
	}
	syscall.Read(int(p.events[0].Fd), make([]byte, 1))
	ready.SetReadDeadline(longAgo)
	if err := ready.Read(p.looks); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Go's poller is not asked again: %v", err)
	}
	ready.SetReadDeadline(time.Time{})
	time.AfterFunc(30*time.Millisecond, func() { ready.Close() })
	if p.awaits() {
		t.Fatal("he goes on behind the end")
	}
}

// watchful is a stay with a watch of its own, as the engine's.
type watchful struct{ *master.Watch }

func (watchful) Stayed() bool { return false }

// withDescriptors runs f where there are so many more, and no others.
func withDescriptors(t *testing.T, n int, f func()) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	var free []int // the lowest, and one more
	for range n + 1 {
		fd, err := syscall.Dup(0)
		if err != nil {
			t.Fatal(err)
		}
		free = append(free, fd)
	}
	for _, fd := range free {
		syscall.Close(fd)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(free[n]), Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	f()
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Whoever connects as descriptors run out has a goroutine; who does later is waited for with others, as if they had not.
func TestPollersBeginWhereTheyCouldNotBefore(t *testing.T) {
	for free := range 3 { // one to wait at, one for Go's poller, one for who stays
		r := newRig(t, Config{})
		r.engine.stay = func(fd int) (quorum.Stay, error) {
			w, err := master.NewWatch(fd)
			return watchful{w}, err
		}
		c := &conn{srv: r.server}
		before := descriptors(t)
		withDescriptors(t, free, func() {
			for range 10 {
				if r.server.pollers.of(c) != nil {
					t.Errorf("%d are enough", free)
				}
			}
		})
		if got := descriptors(t); got != before {
			t.Errorf("%d descriptors where there were %d", got, before)
		}
		if n := strings.Count(r.log.String(), "the system denies a poller"); n != 1 {
			t.Errorf("it is told %d times", n)
		}
		if r.server.pollers.of(c) == nil {
			t.Fatal("none has begun since")
		}
		ours := r.dialTCP()
		ours.send("ping\r\n")
		ours.expect("+PONG\r\n")
	}
}

// They end once, and none begins behind that.
func TestPollersEndOnce(t *testing.T) {
	r := newRig(t, Config{})
	c := &conn{srv: r.server}
	fd := r.server.pollers.of(c).fd
	if err := r.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.server.pollers.of(c) != nil {
		t.Error("another one has begun")
	}
	if err := syscall.Dup3(0, fd, 0); err != nil { // which is somebody else's now
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := r.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		t.Errorf("what is somebody else's is closed: %v", err)
	}
}

// Where there is one processor nobody else would wait for others meanwhile, so he waits in Go's poller each time.
func TestLeaderOfOneProcessorWaitsInGoPoller(t *testing.T) {
	for _, processors := range []int{1, 2} {
		p, input := leader(t)
		ready, err := netpoll.Duplicate(p.fd)
		if err != nil {
			t.Fatal(err)
		}
		defer ready.Close()
		p.ready = ready
		input.Write([]byte("x")) // there is always something
		most := 0
		before := runtime.GOMAXPROCS(processors)
		for range 1000 {
			p.stay.(*fakeStay).stayed = true
			p.awaits()
			most = max(most, p.soon)
		}
		runtime.GOMAXPROCS(before)
		if by := most >= often; by != (processors > 1) {
			t.Errorf("with %d processors he waits by himself: %v", processors, by)
		}
	}
}
