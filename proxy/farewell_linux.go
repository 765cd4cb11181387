package proxy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// sysWriteMore is sysWrite of what the system may keep for a moment, until sysEnd sends the end
// of the stream with it, or sysPush sends it as it is.
func sysWriteMore(fd int, p []byte) (int, error) {
	for {
		n, err := unix.SendmsgN(fd, p, nil, nil, unix.MSG_MORE|unix.MSG_NOSIGNAL)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// sysPush: the option is set anyway, and to set it again sends what is kept.
func sysPush(fd int) { syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1) }

func sysEnd(fd int) { syscall.Shutdown(fd, syscall.SHUT_WR) }
