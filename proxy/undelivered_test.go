package proxy

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func (e *fakeEngine) back() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.takenBack)
}

var lostToOthers = quorum.Result{Decision: quorum.Contended}

var undeliveredRows = []struct {
	name string
	play func(t *testing.T, r *rig, c *client)
	want []string
}{
	{"won when the client is gone", func(t *testing.T, r *rig, c *client) {
		c.send("SET a t NX PX 30000\r\n")
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		// Over a pipe a client that has closed cannot be told from one that
		// has half-closed: what ends it is the write that fails.
		r.engine.answer(t, "a", won)
	}, []string{"a"}},
	{"won before the client went, behind a reply that was owed", func(t *testing.T, r *rig, c *client) {
		c.send("SET a t NX PX 30000\r\nSET b t NX PX 30000\r\nSET c t NX PX 30000\r\n")
		synctest.Wait()
		r.engine.answer(t, "b", won)
		r.engine.answer(t, "c", lostToOthers)
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		r.engine.answer(t, "a", lostToOthers)
	}, []string{"b"}},
	{"delivered", func(t *testing.T, r *rig, c *client) {
		c.send("SET a t NX PX 30000\r\n")
		synctest.Wait()
		r.engine.answer(t, "a", won)
		c.expect("+OK\r\n")
		c.nc.Close()
	}, nil},
	{"delivered in part", func(t *testing.T, r *rig, c *client) {
		c.send("SET a t NX PX 30000\r\n")
		synctest.Wait()
		r.engine.answer(t, "a", won)
		c.expect("+")
		c.nc.Close()
	}, nil},
	{"lost", func(t *testing.T, r *rig, c *client) {
		c.send("SET a t NX PX 30000\r\n")
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		r.engine.answer(t, "a", lostToOthers)
	}, nil},
}

func TestAnOKThatCannotBeDeliveredIsTakenBack(t *testing.T) {
	for _, test := range undeliveredRows {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{})
				c := r.dial()
				test.play(t, r, c)
				synctest.Wait()
				r.end()
				if got := r.engine.back(); !slices.Equal(got, test.want) {
					t.Errorf("taken back: %q, want %q", got, test.want)
				}
			})
		})
	}
}

// The end of input alone is no reason.
func TestAHalfClosedClientKeepsItsLock(t *testing.T) {
	r := newRig(t, Config{})
	c := r.dialTCP()
	c.send("SET a t NX PX 30000\r\n")
	eventually(t, "a request", func() bool { return r.engine.keys() != "" })
	if err := c.nc.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r.engine.answer(t, "a", won)
	c.expectEnd("+OK\r\n")
	r.end()
	if got := r.engine.back(); len(got) > 0 {
		t.Errorf("taken back: %q", got)
	}
}

// slowReturn is a connection whose writer hears late of what the kernel took.
type slowReturn struct {
	net.Conn
	written, goOn chan struct{}
}

func (c *slowReturn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written <- struct{}{}
	<-c.goOn
	return n, err
}

// The connection is cut off by somebody else between the write and its return.
func TestAnOKThatTheKernelHasIsNotTakenBack(t *testing.T) {
	r := newRig(t, Config{})
	ours, theirs := net.Pipe()
	slow := &slowReturn{theirs, make(chan struct{}, 1), make(chan struct{})}
	r.pipes.conns <- slow
	c := &client{t: t, nc: ours}
	c.send("SET a t NX PX 30000\r\n")
	eventually(t, "a request", func() bool { return r.engine.keys() != "" })
	r.engine.answer(t, "a", won)
	c.expect("+OK\r\n")
	<-slow.written
	r.server.mu.Lock()
	conns := r.server.connections()
	r.server.mu.Unlock()
	for _, c := range conns {
		c.cut()
	}
	close(slow.goOn)
	r.end()
	if got := r.engine.back(); len(got) > 0 {
		t.Errorf("told OK, and taken back: %q", got)
	}
}

// An OK that waits costs more than its five bytes.
func TestOKsThatNobodyReadsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{MaxUnread: 200 << 10}})
		r.engine.auto = answerAtOnce
		c := r.dial()
		var sent strings.Builder
		for i := range 200 {
			fmt.Fprintf(&sent, "acquire %d\r\n", i)
		}
		go c.send(sent.String())
		synctest.Wait()
		if got := len(strings.Fields(r.engine.keys())); got < 90 || got > 110 {
			t.Errorf("%d locks were asked for, want about 100", got)
		}
		time.Sleep(unreadTimeout + time.Second)
		if got := r.server.stats.outputLimit.Load(); got != 1 {
			t.Errorf("%d clients were cut off, want 1", got)
		}
		if got := len(r.engine.back()); got < 90 || got > 110 {
			t.Errorf("%d locks were taken back, want about 100", got)
		}
		r.end()
	})
}
