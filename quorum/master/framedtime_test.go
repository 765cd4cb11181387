package master

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// paced is a connection that notes its deadline.
type paced struct {
	net.Conn
	deadline time.Time
}

func (c *paced) Read(p []byte) (int, error) { return len(p), nil }

func (c *paced) SetDeadline(t time.Time) error { c.deadline = t; return nil }

func TestAMasterThatIsAnsweringHasMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := new(paced)
		g := newFramedConn(conn, nil)
		g.skip = 1 << 40
		g.patience.Store(int64(500 * time.Millisecond))
		drip, piece := make([]byte, 100), make([]byte, 32<<10)
		for range 100 {
			time.Sleep(400 * time.Millisecond)
			g.Read(drip)
		}
		if !conn.deadline.IsZero() {
			t.Error("one that is only dripping has more time")
		}
		for range 10 {
			time.Sleep(200 * time.Millisecond)
			g.Read(piece)
			time.Sleep(200 * time.Millisecond)
			g.Read(piece)
			if left := time.Until(conn.deadline); left < 200*time.Millisecond {
				t.Errorf("%v are left", left)
			}
			if !g.heard().Add(300 * time.Millisecond).After(time.Now()) {
				t.Errorf("heard last at %v", g.heard())
			}
		}
		conn.deadline = time.Time{}
		g.patience.Store(0)
		g.Read(make([]byte, stretch))
		if !conn.deadline.IsZero() {
			t.Error("it has a deadline where others wait")
		}
	})
}
