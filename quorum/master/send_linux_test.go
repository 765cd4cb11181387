package master

import (
	"net"
	"testing"
	"time"

	"redlock-proxy/quorum/netpoll"
)

// Go's poller forgets a connection on which nobody has waited for long, and knows it again where somebody does.
func TestLongCalmIsForgotten(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	m := Master{Network: "tcp", Address: ln.Addr().String()}
	dialed, err := m.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := m.quiet(t.Context(), dialed)
	other, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	framed := newFramedConn(conn, &NewRooms(0, 1).Replies)
	defer framed.Close()
	w := newWire(framed, time.Minute)
	if w.socket == nil {
		t.Fatal("it is no socket")
	}
	framed.expect(1 << 20)
	for range 3 {
		w.hurry()
		time.AfterFunc(time.Millisecond, func() { other.Write([]byte("+OK\r\n")) })
		if _, err := w.received(1, nil); err != nil {
			t.Fatal(err)
		}
		known := w.socket.FD()
		for i := range 3 * longCalm {
			w.rest()
			if forgotten := w.socket.FD() != known; forgotten != (i+1 >= longCalm) {
				t.Errorf("forgotten after %d exchanges: %v", i+1, forgotten)
			}
			if _, err := w.in.Peek(w.in.Buffered() + 1); err != netpoll.ErrNothing {
				t.Fatal(err)
			}
		}
	}
}
