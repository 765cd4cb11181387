package master

import (
	"os"
	"syscall"

	"redlock-proxy/quorum/netpoll"
)

// Watch waits for several links, and for something else besides, without a goroutine for each that has to be
// woken: on the thread that calls it, which alone uses it.
type Watch struct {
	epoll  int
	events [16]syscall.EpollEvent
	came   []int
}

// NewWatch is for who is also to know when there is input at fd, without reading it.
func NewWatch(fd int) (*Watch, error) {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	w := &Watch{epoll: epoll}
	if err := w.add(fd, syscall.EPOLLIN, -1); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close ends it.
func (w *Watch) Close() { syscall.Close(w.epoll) }

// Add begins to watch a link that Sends, until its connection is gone. n, from 0, names it.
func (w *Watch) Add(l *Link, n int) error {
	const edge = 1 << 31 // EPOLLET, of which the constant is negative
	return w.add(l.wire.socket.FD(), syscall.EPOLLIN|syscall.EPOLLRDHUP|edge, n)
}

func (w *Watch) add(fd int, events uint32, n int) error {
	return os.NewSyscallError("epoll_ctl", syscall.EpollCtl(w.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: events, Fd: int32(n)}))
}

// Wait waits a few milliseconds at most until something comes, and names the links at which something
// has, or may have, since it last did: once, however much of that is read. called tells of the input at fd. What is
// returned is the watch's.
func (w *Watch) Wait(milliseconds int) (came []int, called bool) {
	n, _ := netpoll.Wait(w.epoll, w.events[:], milliseconds)
	w.came = w.came[:0]
	for _, e := range w.events[:n] {
		if e.Fd < 0 {
			called = true
			continue
		}
		w.came = append(w.came, int(e.Fd))
	}
	return w.came, called
}
