package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// reusePort lets processes of the same user listen at the same address.
func reusePort(_, _ string, raw syscall.RawConn) error {
	var err error
	if failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}); failed != nil {
		return failed
	}
	return err
}
