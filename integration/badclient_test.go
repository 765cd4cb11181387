package integration

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// hostile sends bytes and reads whatever comes until the proxy hangs up, which it must.
func hostile(t *testing.T, p *Proxy, packet []byte) (answer string, hungUp bool) {
	t.Helper()
	c := dial(t, p.Addr)
	defer c.Close()
	// The proxy may hang up before all is sent.
	_ = c.SendRaw(packet)
	must(t, c.Conn.SetReadDeadline(time.Now().Add(patience)))
	got, err := io.ReadAll(c.Conn)
	netErr, timeout := err.(net.Error)
	return string(got), !timeout || !netErr.Timeout()
}

// unharmed: others are served, the process is the same, small and idle.
func unharmed(t *testing.T, p *Proxy, other talk) {
	t.Helper()
	other.t = t
	took(t, 2*time.Second, func() { cycle(other, "unharmed") })
	if p.Ended() {
		t.Fatal("the proxy has ended")
	}
	wantSmall(t, p.Child, 300<<20)
	before, start := processorTime(t, p.Child), time.Now()
	time.Sleep(300 * time.Millisecond)
	if spent, of := processorTime(t, p.Child)-before, time.Since(start); spent > of/2 {
		t.Errorf("the proxy spends %v of %v on nothing", spent, of)
	}
}

// TestHostilePacketCostsItsSenderTheConnection: the answers are Redis's own.
func TestHostilePacketCostsItsSenderTheConnection(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	other := dial(t, p.Addr)
	for _, test := range []struct{ name, packet, answer string }{
		{"bulk of 2^63-1 bytes", "*1\r\n$9223372036854775807\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"array of 2^63-2 arguments", "*9223372036854775806\r\n$4\r\nPING\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
		{"bulk of 600 MB", "*1\r\n$600000000\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"negative bulk", "*1\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"bulk without length", "*1\r\n$\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		{"letters for a length", "*x\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
		{"no bulk", "*1\r\nPING\r\n", "-ERR Protocol error: expected '$', got 'P'\r\n"},
		{"endless line", strings.Repeat("A", 200_000), "-ERR Protocol error: too big inline request\r\n"},
		{"endless length", "*1\r\n$" + strings.Repeat("1", 200_000), "-ERR Protocol error: too big bulk count string\r\n"},
		{"endless count", "*" + strings.Repeat("1", 200_000), "-ERR Protocol error: too big mbulk count string\r\n"},
		{"open quote", "SET k \"v\r\n", "-ERR Protocol error: unbalanced quotes in request\r\n"},
		{"HTTP POST", "POST / HTTP/1.1\r\nHost: localhost\r\n\r\nSET k v\r\n", ""},
		{"HTTP Host", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, hungUp := hostile(t, p, []byte(test.packet))
			if !hungUp {
				t.Errorf("the connection stays open, after %q", answer)
			}
			// A GET line is a command of its own before Host: gives it away.
			if test.name != "HTTP Host" && answer != test.answer {
				t.Errorf("got %q, want %q", answer, test.answer)
			}
			unharmed(t, p, other)
		})
	}
}

func TestLimitsAreTighterBeforeAUTH(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	p := startSecured(t, masters, "secret")
	for _, test := range []struct{ packet, answer string }{
		{"*11\r\n", "-ERR Protocol error: unauthenticated multibulk length\r\n"},
		{"*2\r\n$4\r\nAUTH\r\n$20000\r\n", "-ERR Protocol error: unauthenticated bulk length\r\n"},
	} {
		if answer, hungUp := hostile(t, p, []byte(test.packet)); answer != test.answer || !hungUp {
			t.Errorf("%q: got %q, hung up: %v", test.packet, answer, hungUp)
		}
	}
	c := dial(t, p.Addr)
	c.want(Failure("NOAUTH Authentication required."), "GET", "k")
	c.want("OK", "AUTH", "secret")
	cycle(c, "k")
	// After AUTH a command may be large.
	c.want("OK", "SET", "large", strings.Repeat("x", 100_000))
}

// TestDripOfAnUnfinishedCommandIsHarmless sends a command byte by byte, which
// never ends.
func TestDripOfAnUnfinishedCommandIsHarmless(t *testing.T) {
	_, p := startQuorum(t, 3)
	other := dial(t, p.Addr)
	c := dial(t, p.Addr)
	before := residentBytes(t, p.Child)
	drip := []byte("*1000\r\n" + strings.Repeat("$100000\r\n"+strings.Repeat("x", 100_000)+"\r\n", 20))
	sent := 0
	for ; sent < len(drip); sent++ {
		if _, err := c.Conn.Write(drip[sent : sent+1]); err != nil {
			break
		}
	}
	t.Logf("the proxy took %d bytes", sent)
	if grown := residentBytes(t, p.Child) - before; grown > 64<<20 {
		t.Errorf("%d bytes cost %d MiB", sent, grown>>20)
	}
	c.Close()
	unharmed(t, p, other)
}

// TestClientThatDoesNotReadHarmsNobody asks for much and reads nothing.
func TestClientThatDoesNotReadHarmsNobody(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	other := dial(t, p.Addr)
	c := dial(t, p.Addr)
	packet := bytes.Repeat(Encode("ECHO", strings.Repeat("x", 10_000)), 100)
	must(t, c.Conn.SetWriteDeadline(time.Now().Add(3*time.Second)))
	sent := 0
	for sent < 500<<20 {
		n, err := c.Conn.Write(packet)
		sent += n
		if err != nil {
			break
		}
	}
	t.Logf("%d MiB were taken", sent>>20)
	unharmed(t, p, other)
}

// TestManyUnansweredCommandsAreBounded: a client asks on while no master answers.
func TestManyUnansweredCommandsAreBounded(t *testing.T) {
	masters := startMasters(t, 3)
	relays := relayed(t, masters)
	p := startProxy(t, append(relayFlags(relays), "--acquire-timeout", "2s", "--master-timeout", "5s")...)
	for _, r := range relays {
		r.Replies.Hold()
	}
	c := dial(t, p.Addr)
	must(t, c.Conn.SetWriteDeadline(time.Now().Add(time.Second)))
	for i := range 200_000 {
		if _, err := c.Conn.Write(Encode(acquireArgs(fmt.Sprint("k", i), "t", ttl)...)); err != nil {
			break
		}
	}
	wantSmall(t, p.Child, 300<<20)
	c.Close()
	for _, r := range relays {
		r.Replies.Release()
	}
	awaitVoting(t, p, 3)
	other := dial(t, p.Addr)
	eventually(t, func() error {
		if reply := other.do(acquireArgs("after", "t", ttl)...); reply != "OK" {
			return fmt.Errorf("got %v", reply)
		}
		return nil
	})
}

func TestOneClientTooManyIsTold(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 1)
	p := startProxy(t, append(flags(masters), "--max-clients", "5")...)
	// Connections that were there only to look are gone in a moment.
	var clients []talk
	eventually(t, func() error {
		for _, c := range clients {
			c.Close()
		}
		clients = nil
		for range 5 {
			c := dial(t, p.Addr)
			clients = append(clients, c)
			if reply, err := c.Do("PING"); err != nil || reply != "PONG" {
				return fmt.Errorf("client %d of 5: %v, %v", len(clients), reply, err)
			}
		}
		return nil
	})
	reply, err := dial(t, p.Addr).Receive()
	if err != nil || reply != Failure("ERR max number of clients reached") {
		t.Fatalf("the sixth client: got %v, %v", reply, err)
	}
	cycle(clients[0], "k")
	clients[1].Close()
	eventually(t, func() error {
		c, err := Dial(p.Addr)
		must(t, err)
		defer c.Close()
		if reply, err := c.Do("PING"); reply != "PONG" {
			return fmt.Errorf("got %v, %v", reply, err)
		}
		return nil
	})
}

func TestIdleClientIsClosedAfterTimeout(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 1)
	const timeout = 300 * time.Millisecond
	p := launch(t, ProxyOptions{Args: append(flags(masters), "--timeout", timeout.String())})
	began := time.Now()
	c := dial(t, p.Addr)
	if _, err := c.Receive(); err != io.EOF {
		t.Fatalf("got %v, want the end of the connection", err)
	}
	if after := time.Since(began); after < timeout {
		t.Errorf("it was closed after %v", after)
	}
}
