package main

import (
	"bufio"
	"crypto/rand"
	"net"
	"strconv"
	"time"
)

// demoClient takes and releases one lock again and again, as a program would that locks.
type demoClient struct {
	name, key   string
	ttl         time.Duration
	hold, pause time.Duration // how long it works with the lock, and rests without
}

var demoClients = []demoClient{
	{"till-1", "demo:stock", 5 * time.Second, 900 * time.Millisecond, 350 * time.Millisecond},
	{"till-2", "demo:stock", 5 * time.Second, 700 * time.Millisecond, 450 * time.Millisecond},
	{"till-3", "demo:stock", 5 * time.Second, 1100 * time.Millisecond, 550 * time.Millisecond},
	{"nightly-report", "demo:report", 20 * time.Second, 8 * time.Second, 2 * time.Second},
	{"mailer", "demo:mail", 10 * time.Second, 3 * time.Second, time.Second},
}

// run goes on until stopped is closed. What ends its connection, it waits for to pass.
func (c *demoClient) run(at endpoint, stopped <-chan struct{}) {
	for !rests(time.Second, stopped) {
		c.connected(at, stopped)
	}
}

// rests waits, and tells whether all is to end.
func rests(d time.Duration, stopped <-chan struct{}) (ended bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return false
	case <-stopped:
		return true
	}
}

// connected locks and releases until the connection ends, or all does.
func (c *demoClient) connected(at endpoint, stopped <-chan struct{}) {
	conn, err := at.dial(askTimeout)
	if err != nil {
		return
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	if at.password != "" {
		if _, err := say(conn, r, "AUTH", string(at.password)); err != nil {
			return
		}
	}
	if _, err := say(conn, r, "CLIENT", "SETNAME", c.name); err != nil {
		return
	}
	for {
		token := rand.Text()
		v, err := say(conn, r, "SET", c.key, token, "NX", "PX", strconv.FormatInt(c.ttl.Milliseconds(), 10))
		if err != nil {
			return
		}
		if v.kind == '+' { // won; else it is nil, or an error that says why nobody knows
			ended := rests(c.hold, stopped)
			if _, err := say(conn, r, "DELEX", c.key, "IFEQ", token); err != nil || ended {
				return
			}
		}
		if rests(c.pause, stopped) {
			return
		}
	}
}

// say sends a command and reads the reply.
func say(conn net.Conn, r *bufio.Reader, command ...string) (value, error) {
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Write(appendCommand(nil, command...)); err != nil {
		return value{}, err
	}
	return readValue(r, maxDepth)
}
