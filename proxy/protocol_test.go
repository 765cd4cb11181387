package proxy

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"redlock-proxy/proxy/resp"
)

// misfit is input that no client should send, and what a client that does gets
// to read before the end of its connection.
type misfit struct {
	input, reply string
	password     bool // the server asks for one
	open         bool // Redis waits for the client's end
}

var misfits = []misfit{
	{input: "*x\r\n", reply: "-ERR Protocol error: invalid multibulk length\r\n"},
	{input: "*1\r\n$x\r\n", reply: "-ERR Protocol error: invalid bulk length\r\n"},
	{input: "*1\r\n$-1\r\n", reply: "-ERR Protocol error: invalid bulk length\r\n"},
	{input: "*1\r\n$9223372036854775807\r\n", reply: "-ERR Protocol error: invalid bulk length\r\n"},
	{input: "*9223372036854775806\r\n$4\r\nping\r\n", reply: "-ERR Protocol error: invalid multibulk length\r\n"},
	{input: "*1\r\nping\r\n", reply: "-ERR Protocol error: expected '$', got 'p'\r\n"},
	{input: "*1\r\n\r\n", reply: "-ERR Protocol error: expected '$', got ' '\r\n"},
	{input: "PING \"open\r\n", reply: "-ERR Protocol error: unbalanced quotes in request\r\n"},
	{input: "PING\r\n*1\r\n$4\r\nPING\r\n*0\r\n*-1\r\n\r\n*z\r\nPING\r\n", reply: "+PONG\r\n+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n"},
	{input: strings.Repeat("x", 70000), reply: "-ERR Protocol error: too big inline request\r\n"},
	{input: "*" + strings.Repeat("1", 70000), reply: "-ERR Protocol error: too big mbulk count string\r\n"},
	{input: "*1\r\n$" + strings.Repeat("1", 70000), reply: "-ERR Protocol error: too big bulk count string\r\n"},
	{input: "*11\r\n", reply: "-ERR Protocol error: unauthenticated multibulk length\r\n", password: true},
	{input: "*2\r\n$16385\r\n", reply: "-ERR Protocol error: unauthenticated bulk length\r\n", password: true},
	{input: "CLIENT REPLY OFF\r\nPING\r\n*x\r\n", reply: "", open: true},
	{input: "CLIENT REPLY SKIP\r\nPING \"open\r\n", reply: "", open: true},
	{input: "CLIENT REPLY SKIP\r\nPING\r\n*x\r\n", reply: "-ERR Protocol error: invalid multibulk length\r\n"},
	{input: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", reply: ""},
	{input: "POST / HTTP/1.1\r\n", reply: ""},
}

func TestMisfitsHearRedissWords(t *testing.T) {
	for _, m := range misfits {
		cfg := Config{}
		if m.password {
			cfg.Commands.Password = func() string { return "secret" }
		}
		r := newRig(t, cfg)
		c := r.dialTCP()
		if strings.Contains(m.input, "PING") { // the scripted session knows them in lower case only
			c.send(m.input)
		} else {
			go io.WriteString(c.nc, m.input)
		}
		c.expectEnd(m.reply)
		c.nc.Close()
		r.end()
	}
}

func TestMisfitsHearTheSameFromARealRedis(t *testing.T) {
	for _, password := range []bool{false, true} {
		addr := startRedis(t, password)
		for _, m := range misfits {
			if m.password != password {
				continue
			}
			nc, err := net.Dial("unix", addr)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(nc, m.input)
			if m.open {
				nc.(*net.UnixConn).CloseWrite()
			}
			(&client{t: t, nc: nc}).expectEnd(m.reply)
			nc.Close()
		}
	}
}

// startRedis starts a real server and gives the path of its socket. It ends
// with the test.
func startRedis(t *testing.T, password bool) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "redis") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	args := []string{"--port", "0", "--unixsocket", path, "--save", "", "--dir", dir}
	if password {
		args = append(args, "--requirepass", "secret")
	}
	server := exec.Command("redis-server", args...)
	if err := server.Start(); err != nil {
		t.Fatalf("redis-server is needed: %v", err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	eventually(t, "redis-server listens", func() bool {
		nc, err := net.Dial("unix", path)
		if err == nil {
			nc.Close()
		}
		return err == nil
	})
	return path
}

func TestHTTPIsLoggedOnceAMinute(t *testing.T) {
	r := newRig(t, Config{})
	for range 3 {
		c := r.dialTCP()
		c.send("ping\r\n")
		c.expect("+PONG\r\n")
		c.send("post / HTTP/1.1\r\n")
		c.expectEnd("")
	}
	if got := strings.Count(r.log.String(), "Possible SECURITY ATTACK detected"); got != 1 {
		t.Errorf("%d lines, want 1:\n%s", got, r.log)
	}
}

func TestACommandOverTheQueryLimitIsCutOffWithoutAWord(t *testing.T) {
	r := newRig(t, Config{Limits: Limits{Input: resp.Limits{MaxQuery: 1000}}})
	c := r.dialTCP()
	c.send("ping\r\n*3\r\n$3\r\nset\r\n$900\r\n" + strings.Repeat("k", 900) + "\r\n$900\r\n")
	c.expectEnd("+PONG\r\n")
	if r.server.stats.queryLimit.Load() != 1 {
		t.Error("not counted")
	}
}

func TestTile38sFormIsAnInlineCommand(t *testing.T) {
	r := newRig(t, Config{})
	c := r.dialTCP()
	c.send("$4 PING\r\n")
	c.expect("-ERR unknown command '$4', with args beginning with: 'PING' \r\n")
}

func TestGuestsMaySendMoreAfterAuth(t *testing.T) {
	cfg := Config{}
	cfg.Commands.Password = func() string { return "secret" }
	r := newRig(t, cfg)
	c := r.dialTCP()
	key := strings.Repeat("k", 20000)
	c.send(fmt.Sprintf("AUTH secret\r\n*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", len(key), key))
	c.expect(fmt.Sprintf("+OK\r\n$%d\r\n%s\r\n", len(key), key))
}
