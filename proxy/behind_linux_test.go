package proxy

import (
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/proxy/resp"
)

// dialBlocking makes connections to a rig with lists: one that looks on, and what is asked for.
func dialBlocking(t *testing.T, over string) (r *rig, e *elements, looker *client, dial func() *client) {
	r, e = newBlockingRig(t, Config{})
	looker = r.dialTCP()
	at := looker.nc.RemoteAddr()
	if over == "TLS" {
		inner, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at = inner.Addr()
		r.serve(tls.NewListener(inner, &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}))
	}
	return r, e, looker, func() *client {
		c := r.dialAt(at)
		if over == "TLS" {
			c.nc = tls.Client(c.nc, &tls.Config{InsecureSkipVerify: true})
		}
		return c
	}
}

func (r *rig) expectBlocked(n int64) {
	r.t.Helper()
	eventually(r.t, fmt.Sprint(n, " are blocked"), func() bool { return r.server.blocked.count.Load() == n })
}

func (r *rig) expectKept(bytes int64) {
	r.t.Helper()
	eventually(r.t, fmt.Sprint(bytes, " bytes are kept"), func() bool {
		_, _, longest, _ := r.server.clientFigures()
		return longest == bytes
	})
}

func TestBlockedClientIsReadFrom(t *testing.T) {
	for _, over := range []string{"TCP", "TLS"} {
		t.Run(over, func(t *testing.T) {
			r, _, looker, dial := dialBlocking(t, over)
			const much = 300_000
			behind := strings.Repeat("PING\r\n", much/6)
			leaves, stays := dial(), dial()
			leaves.send("BLPOP q 0\r\n")
			r.expectBlocked(1)
			stays.send("BLPOP q 0\r\n" + behind)
			r.expectBlocked(2)
			r.expectKept(much)
			leaves.send(behind + behind)
			r.expectKept(2 * much)
			leaves.nc.Close()
			r.expectBlocked(1)
			looker.send("RPUSH q a b\r\n")
			looker.expect(":2\r\n")
			stays.expect(popped("q", "a") + strings.Repeat("+PONG\r\n", much/6))
			for range 3 { // it is read from as before
				stays.send("BLPOP none .01\r\nPING\r\nBLPOP none .01\r\nPING\r\n")
				stays.expect(gone + "+PONG\r\n" + gone + "+PONG\r\n")
			}
			stays.send("BRPOP q 0\r\nquit\r\nBLPOP q 0\r\n")
			stays.expectEnd(popped("q", "b") + "+OK\r\n")
		})
	}
}

// slower has each request be answered after so long, and a push long after that.
func (r *rig) slower(e *elements, by time.Duration) {
	r.engine.mu.Lock()
	defer r.engine.mu.Unlock()
	r.engine.auto = func(_ *fakeEngine, a asked) {
		late := by
		if len(a.request.Args) > 0 && a.request.Args[0] == "RPUSH" {
			late *= 3
		}
		time.AfterFunc(late, func() { a.asker.Answer(e.carryOut(&a.request)).Flush() })
	}
}

// expectLeft tells what is left in q in the end.
func (e *elements) expectLeft(t *testing.T, want ...string) {
	t.Helper()
	eventually(t, fmt.Sprint(want, " are left"), func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.Equal(e.lists["q"], want)
	})
}

// Whoever ends what he sends has no element that comes later, and is told all that is before.
func TestHalfClosedClientIsNotWaitedFor(t *testing.T) {
	const wrong = "-WRONGTYPE no list\r\n"
	for text, want := range map[string]string{
		"BLPOP q 0":                                 "",
		"BLPOP q 0\r\nPING":                         "",
		"PING\r\nBLPOP q 0\r\nQUIT\r\nPING":         "+PONG\r\n",
		"PING\r\nBLPOP none 0\r\nPING":              "+PONG\r\n",
		"BLPOP none .001\r\nPING":                   "",
		"RPUSH a x\r\nBLPOP q 0\r\nPING":            ":1\r\n",
		"RPUSH a x\r\nPING\r\nBLPOP none 0\r\nPING": ":1\r\n+PONG\r\n",
		"BLMOVE q dst LEFT LEFT 0\r\nPING":          wrong + "+PONG\r\n",
	} {
		for _, over := range []string{"TCP", "TLS"} {
			t.Run(over+" "+text, func(t *testing.T) {
				r, e, _, dial := dialBlocking(t, over)
				r.slower(e, 50*time.Millisecond)
				e.wrong = "dst"
				e.lists["q"] = []string{"v", "w"}
				c := dial()
				c.send(text + "\r\n")
				c.nc.(interface{ CloseWrite() error }).CloseWrite()
				c.expectEnd(want)
				r.expectBlocked(0)
				e.expectLeft(t, "v", "w")
			})
		}
	}
}

// It is not known yet whether he stands in line, and the socket takes what he is told.
func TestWhoGoesAwayAsHeIsFirstAskedForTakesNoElement(t *testing.T) {
	for _, text := range []string{"", "PING\r\n", "QUIT\r\n", "RPUSH p x\r\nBLPOP q 0\r\n", "*1\r\n$4\r\nPI"} {
		r, e := newBlockingRig(t, Config{})
		r.slower(e, 50*time.Millisecond)
		e.lists["q"] = []string{"v", "w"}
		c := r.dialTCP()
		c.send("BLPOP q 0\r\n" + text)
		c.nc.Close()
		eventually(t, "it was asked", func() bool { return e.all() > 0 })
		e.expectLeft(t, "v", "w")
		r.end()
		if n := e.all(); n != 2 {
			t.Errorf("behind %q: the masters were asked %d times, want for the element and to put it back", text, n)
		}
	}
}

// Of whom too much is there behind it to be read, the end is seen before he is given anything.
func TestWhoIsGoneBehindWhatIsNotReadHasNoElement(t *testing.T) {
	r, e := newBlockingRig(t, Config{Limits: Limits{Input: resp.Limits{MaxQuery: 4000}}})
	r.slower(e, 100*time.Millisecond)
	e.lists["q"] = []string{"v", "w"}
	c := r.dialTCP()
	c.send("BLPOP q 0\r\n" + strings.Repeat("RPUSH q x\r\n", 10_000))
	c.nc.Close()
	eventually(t, "it was asked", func() bool { return e.all() > 0 })
	e.expectLeft(t, "v", "w")
}

func TestBlockedClientsHaveNoGoroutineWhateverIsBehind(t *testing.T) {
	r, e, looker, dial := dialBlocking(t, "TCP")
	const many = 100
	before := runtime.NumGoroutine()
	clients := make([]*client, many)
	for i := range clients {
		clients[i] = dial()
		clients[i].send("BLPOP q 0\r\n")
	}
	r.expectBlocked(many)
	for _, c := range clients {
		c.send("PING\r\n")
	}
	eventually(t, "no more goroutines than before", func() bool { return runtime.NumGoroutine() <= before+2 })
	var kept int64
	r.server.mu.Lock()
	for _, c := range r.server.conns {
		kept += c.room.Load()
	}
	r.server.mu.Unlock()
	if kept > many*16 {
		t.Errorf("%d bytes are there for what they have sent", kept)
	}
	e.mu.Lock()
	e.lists["q"] = make([]string, many)
	e.mu.Unlock()
	looker.send("RPUSH q last\r\n")
	looker.expect(fmt.Sprintf(":%d\r\n", many+1))
	for _, c := range clients {
		c.expect(popped("q", "") + "+PONG\r\n")
	}
}
