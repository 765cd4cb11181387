package proxy

import (
	"net"
	"syscall"
	"unsafe"
)

// socket gives the socket of a connection whose bytes are those on the socket, and
// noSocket for any other. It stays the connection's, and is closed with it.
func socket(nc net.Conn) int {
	fd := noSocket
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		if raw, err := nc.(syscall.Conn).SyscallConn(); err == nil {
			raw.Control(func(n uintptr) { fd = int(n) })
		}
	}
	return fd
}

// sysRead and sysWrite never wait, so the runtime need not be told of them, which
// would cost as much as a short read does. They transfer pieceSize bytes at most: nothing
// else can have the processor meanwhile.

func sysRead(fd int, p []byte) (int, error)  { return transfer(syscall.SYS_READ, fd, p) }
func sysWrite(fd int, p []byte) (int, error) { return transfer(syscall.SYS_WRITE, fd, p) }

// transfer is one system call with p, which is not empty.
func transfer(call uintptr, fd int, p []byte) (int, error) {
	p = p[:min(len(p), pieceSize)]
	for {
		n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
