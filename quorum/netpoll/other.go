//go:build !linux

package netpoll

import "net"

// Conn is Linux's.
type Conn struct{ net.Conn }

func Take(net.Conn) (*Conn, bool) { return nil, false }
