//go:build !linux

package proxy

import (
	"net"
	"syscall"
)

// socket: elsewhere than on Linux every connection is read and written through
// net.Conn, and has a goroutine of its own.
func socket(net.Conn) int { return noSocket }

func sysRead(int, []byte) (int, error)  { return 0, syscall.EINVAL }
func sysWrite(int, []byte) (int, error) { return 0, syscall.EINVAL }

type poller struct{}

func newPoller(*Server) *poller { return nil }

func (p *poller) close()            {}
func (p *poller) handOver()         {}
func (p *poller) watch(*conn) error { return nil }
func (p *poller) forget(*conn)      {}
