//go:build !unix

package proxy

import (
	"net"
	"syscall"
)

// rawConn: without Unix's system calls every connection is read and written
// through net.Conn.
func rawConn(net.Conn) syscall.RawConn { return nil }

func sysRead(uintptr, []byte) (int, error)  { return 0, syscall.EINVAL }
func sysWrite(uintptr, []byte) (int, error) { return 0, syscall.EINVAL }
