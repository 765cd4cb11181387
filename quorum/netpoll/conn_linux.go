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
	read, write   transfer
}

// Take takes over a connection whose bytes are those on its socket, and is false of any other. Its
// deadlines are not taken over.
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
	c := &Conn{Descriptor: NewDescriptor(fd), local: from.LocalAddr(), remote: from.RemoteAddr()}
	c.read.try, c.write.try = c.read.some, c.write.all
	return c, true
}

func (c *Conn) LocalAddr() net.Addr  { return c.local }
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// NoWait has reads and writes that would have to wait fail with ErrNothing, or wait again. Who reads and writes calls it.
func (c *Conn) NoWait(yes bool) { c.read.noWait, c.write.noWait = yes, yes }

// Read reads what has come, and waits until something has.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.read.begin(p)
	n, err := c.read.end(c.Descriptor.Read(c.read.try))
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write writes all, and waits as long as there is no room.
func (c *Conn) Write(p []byte) (int, error) {
	c.write.begin(p)
	return c.write.end(c.Descriptor.Write(c.write.try))
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

// transfer is a read or a write under way.
type transfer struct {
	p   []byte
	n   int
	err error
	try func(fd uintptr) bool // false: the socket is to be waited for

	noWait bool // it ends with ErrNothing instead
}

func (t *transfer) begin(p []byte) { t.p, t.n, t.err = p, 0, nil }

func (t *transfer) end(err error) (int, error) {
	t.p = nil
	if err == nil {
		err = t.err
	}
	return t.n, err
}

func (t *transfer) some(fd uintptr) (done bool) {
	n, err := ReadNow(int(fd), t.p)
	return t.did(n, err)
}

func (t *transfer) all(fd uintptr) (done bool) {
	for t.n < len(t.p) && t.err == nil {
		if n, err := WriteNow(int(fd), t.p[t.n:]); !t.did(n, err) {
			return false
		}
	}
	return true
}

// did takes in what a system call has done. It is false if it is to be done once more when it can be.
func (t *transfer) did(n int, err error) (done bool) {
	t.n += n
	switch {
	case err != syscall.EAGAIN:
		t.err = err
	case t.noWait:
		t.err = ErrNothing
	default:
		return false
	}
	return true
}
