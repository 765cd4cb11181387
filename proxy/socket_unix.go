//go:build unix

package proxy

import (
	"net"
	"syscall"
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

// isReset tells that whoever connected has reset the connection since.
func isReset(fd int) bool {
	if fd == noSocket {
		return false
	}
	trouble, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	return err == nil && trouble == int(syscall.ECONNRESET)
}

// sysRead and sysWrite do what they can at once, and never wait.

func sysRead(fd int, p []byte) (int, error)  { return atOnce(syscall.Read, fd, p) }
func sysWrite(fd int, p []byte) (int, error) { return atOnce(syscall.Write, fd, p) }

func atOnce(call func(int, []byte) (int, error), fd int, p []byte) (int, error) {
	for {
		n, err := call(fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
