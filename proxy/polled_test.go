//go:build linux

package proxy

import (
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// dialMany makes connections that one poller reads, as long as nobody has given more
// than seven processors.
func (r *rig) dialMany(n int) []*client {
	first := r.dialTCP()
	clients := []*client{first}
	for range n - 1 {
		clients = append(clients, r.dialAt(first.nc.RemoteAddr()))
	}
	for _, c := range clients {
		c.send("ping\r\n")
		c.expect("+PONG\r\n")
	}
	return clients
}

func TestAPolledClientThatWaitsHoldsUpNobody(t *testing.T) {
	r := newRig(t, Config{})
	clients := r.dialMany(40)
	// The second command waits until the first is decided, and so does the leader.
	for _, c := range clients[:20] {
		c.send("extendmore k\r\nwrite k\r\nping\r\n")
	}
	for range 3 {
		for _, c := range clients[20:] {
			c.send("ping\r\n")
			c.expect("+PONG\r\n")
		}
	}
	for range 20 {
		eventually(t, "a read", func() bool { return strings.Count(r.engine.keys(), "read:k") == 20 })
		r.engine.answer(t, "k", won)
	}
	for range 40 {
		eventually(t, "a request", func() bool {
			r.engine.mu.Lock()
			defer r.engine.mu.Unlock()
			return len(r.engine.waiting) > 0
		})
		r.engine.answer(t, "k", won)
	}
	for _, c := range clients[:20] {
		c.expect("$1\r\nk\r\n$1\r\nk\r\n+PONG\r\n")
		c.send("ping\r\n") // it is polled again
		c.expect("+PONG\r\n")
	}
}

// Who is to read more, or has a goroutine of his own, does not stay with what he puts.
func TestLeaderStaysWithTheLastOfWhatHeReads(t *testing.T) {
	r := newRig(t, Config{})
	r.engine.auto = func(_ *fakeEngine, a asked) { a.asker.Answer(won).Flush() }
	stays := func() (all []bool) {
		r.engine.mu.Lock()
		defer r.engine.mu.Unlock()
		all, r.engine.stays = r.engine.stays, nil
		return all
	}
	polled, own := r.dialTCP(), r.dial()
	polled.send("write a\r\nwrite b\r\nwrite c\r\n")
	polled.expect("$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n")
	if got := stays(); !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("of three at once: %v", got)
	}
	polled.send("write a\r\nwrite")
	polled.expect("$1\r\na\r\n")
	polled.send(" b\r\n")
	polled.expect("$1\r\nb\r\n")
	if got := stays(); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("of one and a half: %v", got)
	}
	polled.send("many x y\r\n")
	polled.expect(":2\r\n")
	if got := stays(); len(got) != 0 {
		t.Errorf("of one of two requests: %v", got)
	}
	own.send("write a\r\n")
	own.expect("$1\r\na\r\n")
	if got := stays(); !slices.Equal(got, []bool{false}) {
		t.Errorf("of who has a goroutine of his own: %v", got)
	}
}

// Of a client who soon asks again Go's poller need not know, until he is late.
func TestClientWhoAsksSoonAndLate(t *testing.T) {
	r := newRig(t, Config{})
	r.engine.auto = func(_ *fakeEngine, a asked) { a.asker.Answer(won).Flush() }
	c := r.dialTCP()
	asks := func() {
		c.send("write a\r\n")
		c.expect("$1\r\na\r\n")
	}
	asks()
	ready := r.server.pollers.all[0].ready
	for range 3 {
		time.Sleep(5 * time.Millisecond)
		asks() // he was late
		known := ready.FD()
		eventually(t, "soon enough often enough", func() bool {
			for range 20 * often {
				asks()
			}
			return ready.FD() != known
		})
	}
}

func TestIdlePolledClientsHaveNoGoroutine(t *testing.T) {
	r := newRig(t, Config{})
	r.dialMany(2)
	before := runtime.NumGoroutine()
	r.dialMany(100)
	eventually(t, "no more goroutines than before a hundred clients came", func() bool {
		return runtime.NumGoroutine() <= before+2 // one more accepts
	})
}

func TestEveryEndOfAPolledConnection(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(r *rig, c *client)
		want string
	}{
		"the client closes its half": {func(r *rig, c *client) {
			c.send("write k\r\nping\r\n")
			c.nc.(*net.TCPConn).CloseWrite()
			r.awaitRequest()
			r.engine.answer(r.t, "k", won)
		}, "$1\r\nk\r\n+PONG\r\n"},
		"the client quits":            {func(_ *rig, c *client) { c.send("quit\r\n") }, "+OK\r\n"},
		"the client sends nonsense":   {func(_ *rig, c *client) { c.send("*x\r\n") }, "-ERR Protocol error: invalid multibulk length\r\n"},
		"the command panics":          {func(_ *rig, c *client) { c.send("panic\r\n") }, ""},
		"another client kills it":     {func(r *rig, _ *client) { r.kill() }, ""},
		"it waits, and is killed":     {func(r *rig, c *client) { c.send("extendmore k\r\nwrite k\r\n"); r.awaitRequest(); r.kill() }, ""},
		"the server shuts down":       {func(r *rig, _ *client) { go r.server.Shutdown(r.t.Context()) }, ""},
		"the client closes it whole":  {func(_ *rig, c *client) { c.nc.Close() }, ""},
		"the client resets it":        {func(_ *rig, c *client) { c.nc.(*net.TCPConn).SetLinger(0); c.nc.Close() }, ""},
		"half of a command, then end": {func(_ *rig, c *client) { c.send("*2\r\n$3\r\nGE"); c.nc.(*net.TCPConn).CloseWrite() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{})
			c := r.dialMany(1)[0]
			end.do(r, c)
			c.expectEnd(end.want)
			r.expectNobody()
		})
	}
}

func TestASilentPolledClientIsEnded(t *testing.T) {
	r := newRig(t, Config{Timeout: time.Second})
	r.dialMany(1)[0].expectEnd("")
	r.expectNobody()
}

func (r *rig) expectNobody() {
	eventually(r.t, "all connections are off the list", func() bool {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		return len(r.server.conns) == 0
	})
}

func (r *rig) awaitRequest() {
	eventually(r.t, "a request", func() bool { return r.engine.keys() != "" })
}

// kill cuts all connections off once their readers have done what they could.
func (r *rig) kill() {
	time.Sleep(20 * time.Millisecond)
	r.server.mu.Lock()
	conns := r.server.connections()
	r.server.mu.Unlock()
	for _, c := range conns {
		c.cut()
	}
}

func TestALeaderIsFoundAgainAndAgain(t *testing.T) {
	r := newRig(t, Config{})
	r.engine.auto = answerLater(time.Microsecond)
	clients := r.dialMany(8)
	done := make(chan struct{}, len(clients))
	for _, c := range clients {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 200 {
				c.send("extendmore k\r\nwrite k\r\nextendmore k\r\nwrite l\r\nping\r\n")
				c.expect("$1\r\nk\r\n$1\r\nk\r\n$1\r\nk\r\n$1\r\nl\r\n+PONG\r\n")
			}
		}()
	}
	for range clients {
		<-done
	}
	eventually(t, "few goroutines are left", func() bool { return runtime.NumGoroutine() <= 50 })
}

func TestAPolledClientIsNotIdleWhileItWaits(t *testing.T) {
	r := newRig(t, Config{Timeout: time.Second})
	r.engine.hearing = make(chan struct{})
	c := r.dialTCP()
	c.send("SUBSCRIBE a\r\n")
	for range 25 { // the idle are looked for once a second
		other := r.dialAt(c.nc.RemoteAddr())
		other.send("ping\r\n")
		other.expect("+PONG\r\n")
		time.Sleep(100 * time.Millisecond)
	}
	close(r.engine.hearing)
	c.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n")
}

func TestALongCommandHoldsUpNoOtherPolledClient(t *testing.T) {
	r := newRig(t, Config{})
	clients := r.dialMany(2)
	hanging = make(chan struct{})
	release := sync.OnceFunc(func() { close(hanging) })
	t.Cleanup(release) // before the server is shut down
	clients[0].send("hang " + strings.Repeat("x", 20_000) + "\r\n")
	time.Sleep(20 * time.Millisecond)
	clients[1].send("ping\r\n")
	clients[1].expect("+PONG\r\n")
	release()
	clients[0].expect("+OK\r\n")
}

func TestALongTransactionHoldsUpNoOtherPolledClient(t *testing.T) {
	r := newRig(t, Config{})
	clients := r.dialMany(2)
	hanging = make(chan struct{})
	release := sync.OnceFunc(func() { close(hanging) })
	t.Cleanup(release) // before the server is shut down
	clients[0].send("MULTI\r\n")
	clients[0].expect("+OK\r\n")
	for range 3 {
		clients[0].send("GET " + strings.Repeat("x", 8000) + "\r\n")
		clients[0].expect("+QUEUED\r\n")
	}
	clients[0].send("exec x\r\n")
	time.Sleep(20 * time.Millisecond)
	clients[1].send("ping\r\n")
	clients[1].expect("+PONG\r\n")
	release()
	clients[0].expect("+OK\r\n")
}

// What a client sends at once may be hundreds of commands.
func TestManyCommandsAtOnceHoldUpNoOtherPolledClient(t *testing.T) {
	r := newRig(t, Config{})
	clients := r.dialMany(2)
	hanging = make(chan struct{})
	release := sync.OnceFunc(func() { close(hanging) })
	t.Cleanup(release) // before the server is shut down
	clients[0].send(strings.Repeat("ping\r\n", turnCommands) + "hang x\r\nping\r\n")
	for range 3 {
		clients[1].send("ping\r\n")
		clients[1].expect("+PONG\r\n")
	}
	release()
	clients[0].expect(strings.Repeat("+PONG\r\n", turnCommands) + "+OK\r\n+PONG\r\n")
}

// TestClientThatResetsAtOnceIsGivenNothing, and whoever connects behind a flood of such is served.
func TestClientThatResetsAtOnceIsGivenNothing(t *testing.T) {
	const flood = 50
	r := newRig(t, Config{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for range flood {
		nc, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		nc.(*net.TCPConn).SetLinger(0)
		nc.Close()
	}
	c := r.dialAt(ln.Addr())
	r.serve(ln)
	c.send("ping\r\n")
	c.expect("+PONG\r\n")
	if had := r.server.stats.connections.Load(); had != flood+1 {
		t.Errorf("%d connections are counted, want %d", had, flood+1)
	}
	if made := r.server.lastID.Load(); made != 1 {
		t.Errorf("%d clients were made, want one", made)
	}
}
