//go:build unix

package proxy

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"redlock-proxy/quorum/netpoll"
)

// socket gives the socket of a connection whose bytes are those on the socket, and
// noSocket for any other. It stays the connection's, and is closed with it.
func socket(nc net.Conn) int {
	fd := noSocket
	switch nc := nc.(type) {
	case interface{ FD() int }:
		fd = nc.FD()
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

// hasInput tells that there is something to read, be it the end. The connection is not closed
// meanwhile.
func hasInput(nc net.Conn) bool {
	if over, ok := nc.(*tls.Conn); ok {
		nc = over.NetConn()
	}
	fd := socket(nc)
	if fd == noSocket {
		return false
	}
	var one [1]byte
	_, _, err := syscall.Recvfrom(fd, one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err == nil
}

// hasQueued tells that a connection waits to be accepted.
func hasQueued(ln syscall.Conn) bool {
	raw, err := ln.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		for err = unix.EINTR; err == unix.EINTR; {
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		}
	})
	return err == nil && n > 0
}

// sysRead and sysWrite do what they can at once, and never wait.

func sysRead(fd int, p []byte) (int, error)  { return netpoll.ReadNow(fd, p) }
func sysWrite(fd int, p []byte) (int, error) { return netpoll.WriteNow(fd, p) }
