package main

import (
	"net"
	"os"
	"runtime"
	"syscall"
)

// floor is used by one thread alone.
type floor struct {
	epoll    int
	listener int
	masters  []*master
	open     map[int32]socket
	files    []*os.File // whose sockets these are

	asked     []byte // of this round, for all masters
	questions []question
	forgotten int // how many questions there were before these
	told      int // how many were answered to their clients, those included
	answered  []*client
}

// socket is one that is waited for.
type socket interface {
	// take takes what has come in.
	take(f *floor, p []byte)
}

func serve(addr string, masters []string) error {
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	f := &floor{open: make(map[int32]socket)}
	var err error
	if f.epoll, err = syscall.EpollCreate1(0); err != nil {
		return err
	}
	for _, addr := range masters {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		file, err := conn.(*net.TCPConn).File()
		if err != nil {
			return err
		}
		f.files = append(f.files, file)
		m := &master{fd: int(file.Fd())}
		f.masters = append(f.masters, m)
		if err := f.watch(m.fd, m); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	f.listener = int(file.Fd())
	if err := f.watch(f.listener, nil); err != nil {
		return err
	}
	return f.run()
}

// watch waits for input from a socket, which does not block from here on.
func (f *floor) watch(fd int, s socket) error {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return err
	}
	f.open[int32(fd)] = s
	return syscall.EpollCtl(f.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
}

// run takes what has come, and sends what came of it, once a round.
func (f *floor) run() error {
	events := make([]syscall.EpollEvent, 512)
	buf := make([]byte, 64<<10)
	for {
		n, err := syscall.EpollWait(f.epoll, events, -1)
		if err != nil && err != syscall.EINTR {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			if int(e.Fd) == f.listener {
				if err := f.accept(); err != nil {
					return err
				}
				continue
			}
			s := f.open[e.Fd]
			n, err := syscall.Read(int(e.Fd), buf)
			if err == syscall.EAGAIN {
				continue
			}
			if n <= 0 {
				delete(f.open, e.Fd)
				if c, ok := s.(*client); ok {
					c.gone = true
				}
				syscall.Close(int(e.Fd))
				continue
			}
			s.take(f, buf[:n])
		}
		if err := f.send(); err != nil {
			return err
		}
	}
}

func (f *floor) accept() error {
	fd, _, err := syscall.Accept(f.listener)
	if err != nil {
		return nil // it has gone
	}
	syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	return f.watch(fd, &client{fd: fd})
}

// send asks the masters, and answers the clients.
func (f *floor) send() error {
	if len(f.asked) > 0 {
		for _, m := range f.masters {
			if err := write(m.fd, f.asked); err != nil {
				return err
			}
		}
		f.asked = f.asked[:0]
	}
	for _, c := range f.answered {
		if !c.gone {
			_ = write(c.fd, c.out) // one that has gone is found by reading
		}
		c.out = c.out[:0]
	}
	f.answered = f.answered[:0]
	return nil
}

// write writes all, waiting for room by asking for it again and again.
func write(fd int, p []byte) error {
	for len(p) > 0 {
		n, err := syscall.Write(fd, p)
		if err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
			return err
		}
		p = p[max(n, 0):]
	}
	return nil
}
