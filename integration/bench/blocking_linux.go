package main

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"time"
)

// blocking is a connection whose reads block their thread, as in a client
// written in C: a reply is there when the kernel wakes the thread, and no
// scheduler stands between. Where single latencies of some ten microseconds
// are compared, anything else would measure itself.
type blocking struct {
	fd  int
	buf [1024]byte
	b   []byte
}

func dialBlocking(addr string) (*blocking, error) {
	to, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	c := &blocking{fd: fd}
	sockaddr := &syscall.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}
	wait := syscall.NsecToTimeval(patience.Nanoseconds())
	err = errors.Join(
		syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1),
		syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait),
		syscall.Connect(fd, sockaddr))
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// do sends a command and checks its reply, which is one line.
func (c *blocking) do(want string, args ...string) error {
	c.b = appendCommand(c.b[:0], args...)
	if _, err := syscall.Write(c.fd, c.b); err != nil {
		return err
	}
	for got := 0; ; {
		n, err := syscall.Read(c.fd, c.buf[got:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return fmt.Errorf("no reply: %w", err)
		}
		got += n
		if c.buf[got-1] != '\n' && got < len(c.buf) {
			continue
		}
		if string(c.buf[:got]) != want {
			return fmt.Errorf("%.80q is answered %q, want %q", args, c.buf[:got], want)
		}
		return nil
	}
}

func (c *blocking) close() error { return syscall.Close(c.fd) }

// pause is a sleep to some ten microseconds. The runtime's timers, while the
// process is idle, count whole milliseconds.
func pause(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	left := syscall.NsecToTimespec(d.Nanoseconds())
	for errors.Is(syscall.Nanosleep(&left, &left), syscall.EINTR) {
	}
}
