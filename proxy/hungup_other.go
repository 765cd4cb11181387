//go:build !linux

package proxy

import "net"

// hungUp: that is told only where the end can be seen behind what is to be read.
func hungUp(net.Conn) bool { return false }
