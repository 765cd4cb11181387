//go:build !linux

package main

import (
	"errors"
	"syscall"
)

// reusePort: elsewhere the option does not share connections out, or means something else.
func reusePort(_, _ string, _ syscall.RawConn) error {
	return errors.New("reuse-port is for Linux")
}
