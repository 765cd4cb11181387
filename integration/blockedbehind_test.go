package integration

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// sendAll gives text to a connection for as long as its other end reads.
func sendAll(t *testing.T, c *Client, text string) (cutOff bool) {
	t.Helper()
	c.Conn.SetWriteDeadline(time.Now().Add(time.Minute))
	_, err := c.Conn.Write([]byte(text))
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		t.Error("it is not read from")
	}
	return err != nil
}

// Whatever a client has sent behind a command that is blocked, it takes nothing when it goes away, as on Redis.
func TestWhoIsGoneBehindMuchHasNoElement(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	alone := startMasters(t, 1)[0]
	much, tooMuch := strings.Repeat("SET behind 1\r\n", 3<<20/14), strings.Repeat("SET behind 1\r\n", 20<<20/14)
	redis := direct(t, alone)
	redis.want("OK", "CONFIG", "SET", "client-query-buffer-limit", "4mb")
	for name, at := range map[string]struct {
		looker talk
		dial   func() (*Client, error)
	}{"the proxy": {dial(t, p.Addr), func() (*Client, error) { return Dial(p.Addr) }}, "Redis": {redis, alone.Dial}} {
		for how, leave := range map[string]func(c *Client, id string){
			"closes":      func(c *Client, id string) { sendAll(t, c, much); c.Close() },
			"closes half": func(c *Client, id string) { sendAll(t, c, much); c.Conn.(*net.TCPConn).CloseWrite() },
			"is reset":    func(c *Client, id string) { sendAll(t, c, much); c.Conn.(*net.TCPConn).SetLinger(0); c.Close() },
			"is killed": func(c *Client, id string) {
				sendAll(t, c, much)
				at.looker.want(int64(1), "CLIENT", "KILL", "ID", id)
			},
			"sends too much": func(c *Client, id string) {
				if !sendAll(t, c, tooMuch) {
					t.Errorf("at %s: who has sent %d bytes is not cut off", name, len(tooMuch))
				}
			},
		} {
			for _, command := range []string{"BLPOP q 0", "BLMOVE q to LEFT RIGHT 0", "BLMPOP 0 2 none q RIGHT"} {
				c, err := at.dial()
				must(t, err)
				id, err := c.Do("CLIENT", "ID")
				must(t, err)
				must(t, c.Send(strings.Fields(command)...))
				waiting(t, at.looker, 1)
				leave(c, fmt.Sprint(id))
				waiting(t, at.looker, 0)
				at.looker.want(int64(1), "RPUSH", "q", "v")
				at.looker.want([]any{"v"}, "LRANGE", "q", "0", "-1")
				at.looker.want(int64(0), "EXISTS", "to", "behind")
				at.looker.want(int64(1), "DEL", "q")
				c.Close()
				t.Logf("at %s: who waits by %s and %s", name, command, how)
			}
		}
	}
}

// What is sent behind is carried out in its order once there is an element, and that of many who wait costs none of it.
func TestWhatIsBehindABlockedCommandIsCarriedOut(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	looker := dial(t, p.Addr)
	const many, each = 20, 2000
	clients := make([]talk, many)
	for i := range clients {
		clients[i] = dial(t, p.Addr)
		key := fmt.Sprint("own", i)
		must(t, clients[i].Send("BLPOP", "q", "0"))
		if sendAll(t, clients[i].Client, strings.Repeat("INCR "+key+"\r\n", each)+"BRPOP q 0\r\nGET "+key+"\r\n") {
			t.Fatal("it is cut off")
		}
	}
	waiting(t, looker, many)
	for range many {
		looker.want(int64(1), "RPUSH", "q", "v")
	}
	for _, c := range clients {
		c.receive([]any{"q", "v"})
		for n := range each {
			c.receive(int64(n + 1))
		}
	}
	waiting(t, looker, many)
	for range many {
		looker.want(int64(1), "RPUSH", "q", "w")
	}
	for _, c := range clients {
		c.receive([]any{"q", "w"})
		c.receive(fmt.Sprint(each))
	}
}
