package master

import (
	"net"
	"testing"
	"time"
)

// Go's poller forgets a connection on which nobody has waited for long, and knows it again where somebody does.
func TestLongCalmIsForgotten(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	m := Master{Network: "tcp", Address: ln.Addr().String()}
	conn, err := m.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	framed := newFramedConn(plain(conn), &NewRooms(0, 1).Replies)
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
			if _, err := w.in.Peek(w.in.Buffered() + 1); err != errNothing {
				t.Fatal(err)
			}
		}
	}
}
