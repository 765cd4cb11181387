package netpoll

import (
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Conn is a connection of which Go's poller knows like that.
type Conn struct {
	*Descriptor
	local, remote net.Addr
}

// Take takes over a connection whose bytes are those on its socket, and is false of any other.
func Take(from net.Conn) (*Conn, bool) {
	switch from.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil, false
	}
	raw, err := from.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, false
	}
	fd := -1
	if raw.Control(func(n uintptr) { fd, err = unix.FcntlInt(n, unix.F_DUPFD_CLOEXEC, 0) }) != nil || err != nil {
		return nil, false
	}
	from.Close()
	return &Conn{Descriptor: NewDescriptor(fd), local: from.LocalAddr(), remote: from.RemoteAddr()}, true
}

func (c *Conn) LocalAddr() net.Addr  { return c.local }
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// Read reads what has come, and waits until something has.
func (c *Conn) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	waited := c.Descriptor.Read(func(fd uintptr) bool {
		n, err = again(syscall.Read, int(fd), p)
		return err != syscall.EAGAIN
	})
	switch {
	case waited != nil:
		return 0, waited
	case err == nil && n == 0:
		err = io.EOF
	}
	return n, err
}

// Write writes all, and waits as long as there is no room.
func (c *Conn) Write(p []byte) (n int, err error) {
	waited := c.Descriptor.Write(func(fd uintptr) bool {
		for err = nil; n < len(p) && err == nil; {
			var some int
			some, err = again(syscall.Write, int(fd), p[n:])
			n += some
		}
		return err != syscall.EAGAIN
	})
	if waited != nil {
		err = waited
	}
	return n, err
}

// CloseWrite has the other side know that nothing more comes.
func (c *Conn) CloseWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return syscall.Shutdown(c.fd, syscall.SHUT_WR)
}

// again is a system call, once more where a signal has cut it short.
func again(call func(int, []byte) (int, error), fd int, p []byte) (int, error) {
	for {
		n, err := call(fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
