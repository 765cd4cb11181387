package proxy

import (
	"crypto/tls"
	"net"

	"golang.org/x/sys/unix"
)

// hungUp tells that the other side has closed the connection, whatever there is to be read from it yet.
func hungUp(nc net.Conn) bool {
	if over, ok := nc.(*tls.Conn); ok {
		nc = over.NetConn()
	}
	fd := socket(nc)
	if fd == noSocket {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}
