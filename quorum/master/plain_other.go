//go:build !linux

package master

import "net"

// plain is Linux's.
func plain(conn net.Conn) net.Conn { return conn }
