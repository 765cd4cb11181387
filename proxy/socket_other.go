//go:build !unix

package proxy

import (
	"net"
	"syscall"
)

// socket: without Unix's system calls every connection is read and written through
// net.Conn.
func socket(net.Conn) int { return noSocket }

func isReset(int) bool { return false }

func hasInput(net.Conn) bool { return false }

func hasQueued(syscall.Conn) bool { return false }

func sysRead(int, []byte) (int, error)  { return 0, syscall.EINVAL }
func sysWrite(int, []byte) (int, error) { return 0, syscall.EINVAL }
