//go:build unix

package proxy

import (
	"net"
	"syscall"
)

// rawConn gives the socket of a connection whose bytes are those on the
// socket, and nil for any other.
func rawConn(nc net.Conn) syscall.RawConn {
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		raw, err := nc.(syscall.Conn).SyscallConn()
		if err == nil {
			return raw
		}
	}
	return nil
}

func sysRead(fd uintptr, p []byte) (int, error)  { return syscall.Read(int(fd), p) }
func sysWrite(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }
