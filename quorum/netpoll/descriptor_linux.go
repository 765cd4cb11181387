package netpoll

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptor is one that does not block. Go's poller knows of it from when somebody first has to wait for it, until Forget.
// One goroutine at a time reads, and one writes; any may set deadlines, and Close it.
type Descriptor struct {
	known atomic.Pointer[known] // nil: the poller does not know of it

	mu          sync.Mutex // guards what follows, and when known changes
	fd          int        // while it is not closed
	closed      bool
	read, write time.Time // deadlines, zero: none
}

// known is what Go's poller knows, which has taken the descriptor over.
type known struct {
	file *os.File
	raw  syscall.RawConn
}

// NewDescriptor takes fd over, which does not block.
func NewDescriptor(fd int) *Descriptor { return &Descriptor{fd: fd} }

// Duplicate is one of what fd is of, which is to block no more.
func Duplicate(fd int) (*Descriptor, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return NewDescriptor(other), nil
}

// FD is its number, until Forget.
func (d *Descriptor) FD() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return -1
	}
	return d.fd
}

// Read calls try until it is done, and waits for input in between. It may call it with a lock held that Close takes, too.
// Its error is os.ErrDeadlineExceeded or net.ErrClosed, or that nothing can be waited for.
func (d *Descriptor) Read(try func(fd uintptr) (done bool)) error {
	k, err := d.knownOr(try)
	if k != nil {
		err = d.failed(k.raw.Read(try))
	}
	return err
}

// Write is Read, for who waits until there is room.
func (d *Descriptor) Write(try func(fd uintptr) (done bool)) error {
	k, err := d.knownOr(try)
	if k != nil {
		err = d.failed(k.raw.Write(try))
	}
	return err
}

// knownOr is what the poller knows; nil if try is done without it.
func (d *Descriptor) knownOr(try func(fd uintptr) bool) (*known, error) {
	if k := d.known.Load(); k != nil {
		return k, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch k := d.known.Load(); {
	case k != nil:
		return k, nil
	case d.closed:
		return nil, net.ErrClosed
	case d.read.IsZero() && d.write.IsZero() && try(uintptr(d.fd)):
		return nil, nil
	}
	k := &known{file: os.NewFile(uintptr(d.fd), "")}
	k.raw, _ = k.file.SyscallConn() // there is no error of a file that there is
	k.file.SetReadDeadline(d.read)
	k.file.SetWriteDeadline(d.write)
	d.known.Store(k)
	return k, nil
}

// failed is what the poller says, as package net would say it.
func (d *Descriptor) failed(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	return err
}

// Forget has the poller know of it no more, until somebody has to wait once more. Nobody reads or writes meanwhile.
// Whatever epoll watches it goes on to do so, though by a number that is not its own any more.
func (d *Descriptor) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.known.Load()
	if k == nil || d.closed {
		return
	}
	fd, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return // it costs no more than it did
	}
	d.known.Store(nil)
	k.file.Close()
	d.fd = fd
}

// Close has whoever reads or writes do so no longer.
func (d *Descriptor) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	d.closed = true
	if k := d.known.Load(); k != nil {
		return k.file.Close()
	}
	return syscall.Close(d.fd)
}

func (d *Descriptor) SetDeadline(t time.Time) error {
	return d.until(t, (*os.File).SetDeadline, &d.read, &d.write)
}

func (d *Descriptor) SetReadDeadline(t time.Time) error {
	return d.until(t, (*os.File).SetReadDeadline, &d.read)
}

func (d *Descriptor) SetWriteDeadline(t time.Time) error {
	return d.until(t, (*os.File).SetWriteDeadline, &d.write)
}

func (d *Descriptor) until(t time.Time, set func(*os.File, time.Time) error, deadlines ...*time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	for _, deadline := range deadlines {
		*deadline = t
	}
	if k := d.known.Load(); k != nil {
		return set(k.file, t)
	}
	return nil
}
