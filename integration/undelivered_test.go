package integration

import (
	"fmt"
	"net"
	"syscall"
	"testing"
)

// reset has the kernel reset a connection instead of closing it, before it returns: a process that is
// being started by another test has the socket, too, until it is the program that it is to be.
func reset(t *testing.T, conn net.Conn) {
	t.Helper()
	must(t, conn.(*net.TCPConn).SetLinger(0))
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must(t, conn.Close())
}

// A client that is cut off while its acquire is under way holds nothing for the
// rest of the ttl.
func TestOKThatCouldNotBeDeliveredIsReleased(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, append(relayFlags(relays), unhurried...)...)
	awaitVoting(t, p, 3)
	looker := dial(t, p.Addr)
	for n := range 5 {
		for _, r := range relays {
			r.Replies.Hold()
		}
		conn, err := net.Dial("tcp", p.Addr)
		must(t, err)
		_, err = conn.Write([]byte("SET gone t NX PX 120000\r\n"))
		must(t, err)
		wantHolding(t, masters, "gone", "t", 0, 1, 2)
		reset(t, conn)
		for _, r := range relays {
			r.Replies.Release()
		}
		eventually(t, func() error { return told(looker, fmt.Sprintf("undelivered_oks:%d\r\n", n+1)) })
		wantGone(t, masters, "gone")
		awaitVoting(t, p, 3)
	}
}
