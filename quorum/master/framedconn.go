package master

import (
	"net"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum/netpoll"
)

// framedConn is a connection to a master that hands on exactly as many well-formed
// replies as were asked for. rueidis panics on a reply that it does not expect,
// would take a surplus reply for the answer to the next command, and allocates
// whatever length it is told; so what is wrong ends the connection here, before
// rueidis sees it.
//
// What the replies take in memory is taken from the master's room, unless it is little. A
// string that there is no room for is left out: an error stands in its place, and its bytes
// are thrown away as they come. Others on the link are answered all the same.
//
// Of a master that is answering it moves the deadline of the batch on: a long answer is
// not that there is none.
//
// One goroutine reads at a time, and others may be about to send meanwhile.
type framedConn struct {
	net.Conn
	frames
	out []byte // what is still to be handed on
	err error  // sticky

	patience atomic.Int64 // how long it waits for a stretch of the answers; 0 if others do
	stretch  int          // bytes since the last one
	latest   atomic.Int64 // when that was, since started; 0 if never
}

func newFramedConn(conn net.Conn, room *Room) *framedConn {
	return &framedConn{Conn: conn, frames: frames{bill: bill{room: room}}}
}

func (g *framedConn) Read(p []byte) (int, error) {
	for len(g.out) == 0 {
		if g.err != nil {
			return 0, g.err
		}
		n, err := g.Conn.Read(p)
		if err == netpoll.ErrNothing {
			return 0, err
		}
		g.hears(n)
		kept, bad := g.follow(p[:n])
		if bad != nil {
			g.err = bad
			g.Close()
			return 0, bad
		}
		if n = len(kept); len(p) == 0 || n > 0 && &kept[0] == &p[0] {
			return n, err
		}
		g.out, g.err = kept, err
	}
	n := copy(p, g.out)
	g.out = g.out[n:]
	return n, nil
}

// stretch is so much that a master which sends it is answering, and not only dripping.
const stretch = 64 << 10

// loaded is what times are told from that are kept as one word.
var loaded = time.Now()

// hears notes that n bytes have come.
func (g *framedConn) hears(n int) {
	if g.stretch += n; g.stretch < stretch {
		return
	}
	g.stretch = 0
	now := time.Now()
	g.latest.Store(int64(now.Sub(loaded)))
	if patience := time.Duration(g.patience.Load()); patience > 0 {
		g.Conn.SetDeadline(now.Add(patience))
	}
}

// heard is when a stretch of the answers last came, zero if none has.
func (g *framedConn) heard() (at time.Time) {
	if n := g.latest.Load(); n != 0 {
		at = loaded.Add(time.Duration(n))
	}
	return at
}
