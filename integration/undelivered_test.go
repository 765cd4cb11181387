package integration

import (
	"net"
	"strings"
	"testing"
	"time"
)

// A client that is cut off while its acquire is under way holds nothing for the
// rest of the ttl.
func TestOKThatCouldNotBeDeliveredIsReleased(t *testing.T) {
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, relayFlags(relays)...)
	awaitVoting(t, p, 3)
	for _, r := range relays {
		r.Replies.Delay(60 * time.Millisecond)
	}
	for range 5 {
		conn, err := net.Dial("tcp", p.Addr)
		must(t, err)
		_, err = conn.Write([]byte("SET gone t NX PX 60000\r\n"))
		must(t, err)
		time.Sleep(20 * time.Millisecond) // it is under way
		// The kernel resets the connection instead of closing it.
		must(t, conn.(*net.TCPConn).SetLinger(0))
		must(t, conn.Close())
		time.Sleep(300 * time.Millisecond)
		wantGone(t, masters, "gone")
	}
	if info := dial(t, p.Addr).text("INFO", "quorum"); !strings.Contains(info, "undelivered_oks:5\r\n") {
		t.Error(info)
	}
}
