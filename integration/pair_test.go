package integration

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pair is one client's connections to the proxy and to Redis, and what is known of it.
type pair struct {
	conns   [2]net.Conn
	readers [2]*bufio.Reader

	proto                      int
	channels, shards, patterns map[string]bool
	queued                     [][]string // since MULTI; nil outside
	watches                    bool
	misnamed                   bool // by a HELLO that was refused
}

func newPair(t *testing.T, addrs [2]string) *pair {
	t.Helper()
	p := &pair{proto: 2, channels: make(map[string]bool), shards: make(map[string]bool), patterns: make(map[string]bool)}
	for i, addr := range addrs {
		conn, err := net.Dial("tcp", addr)
		must(t, err)
		p.conns[i], p.readers[i] = conn, bufio.NewReader(conn)
		must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	}
	return p
}

func (p *pair) close() {
	for _, c := range p.conns {
		c.Close()
	}
}

// send sends steps to both, at once.
func (p *pair) send(steps []stepOf) error {
	var b []byte
	for _, s := range steps {
		b = append(b, s.bytes()...)
	}
	for _, c := range p.conns {
		if _, err := c.Write(b); err != nil && !isClosed(err) {
			return err
		}
	}
	return nil
}

// hear reads all that is answered to a step. Redis tells how many replies there are.
func (p *pair) hear(s stepOf) (replies [2][]RawReply, err error) {
	for _, side := range []int{1, 0} {
		n := 1
		for j := 0; j < n; j++ {
			r, err := readReply(p.readers[side])
			if err != nil && !isClosed(err) {
				return replies, fmt.Errorf("%s does not answer %q: %w", [2]string{"the proxy", "Redis"}[side], s.bytes(), err)
			}
			if j == 0 {
				n = p.expected(s.args, &r)
			}
			replies[side] = append(replies[side], r)
		}
	}
	if len(replies[0]) != len(replies[1]) {
		return replies, fmt.Errorf("the proxy gives %d replies to %q, Redis %d", len(replies[0]), s.bytes(), len(replies[1]))
	}
	return replies, nil
}

// readReply reads what is no invalidation: when those come hangs on when masters tell.
func readReply(from *bufio.Reader) (r RawReply, err error) {
	for {
		r, err = ReadRaw(from)
		if err != nil || r.Kind != '>' || !strings.HasPrefix(r.Raw, ">2\r\n$10\r\ninvalidate\r\n") && !strings.HasPrefix(r.Raw, ">2\r\n$21\r\ntracking-redir-broken\r\n") {
			return r, err
		}
	}
}

// await reads so many replies more, whatever they are: what was asked for has been done by then.
func (p *pair) await(n int) {
	for range n {
		for _, r := range p.readers {
			if _, err := readReply(r); err != nil {
				return
			}
		}
	}
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// expected is how many replies a command has, by its first one.
func (p *pair) expected(args []string, first *RawReply) int {
	if len(args) == 0 {
		if first.Failed("ERR Protocol error") {
			return 2 // and then the connection is closed
		}
		return 1
	}
	switch name := nameOf(args); {
	case first.Failed("ERR Protocol error"):
		return 2
	case first.Kind == '-' || first.Kind == 0 || first.Text == "QUEUED":
	case name == "quit":
		return 2
	case name == "subscribe", name == "ssubscribe", name == "psubscribe":
		return len(args) - 1
	case name == "sunsubscribe" && len(args) == 1:
		return max(len(p.shards), 1)
	case name == "unsubscribe" && len(args) == 1:
		return max(len(p.channels), 1)
	case name == "punsubscribe" && len(args) == 1:
		return max(len(p.patterns), 1)
	case name == "unsubscribe", name == "sunsubscribe", name == "punsubscribe":
		return len(args) - 1
	}
	return 1
}

// follow keeps up with what the client's connection is in, by what Redis has answered.
func (p *pair) follow(args []string, replies []RawReply) {
	if len(args) == 0 && replies[0].Text != "QUEUED" {
		return
	}
	name, set := nameOf(args), p.channels
	switch name {
	case "psubscribe", "punsubscribe":
		set = p.patterns
	case "ssubscribe", "sunsubscribe":
		set = p.shards
	}
	switch {
	case replies[0].Text == "QUEUED":
		p.queued = append(p.queued, args)
	case name == "exec", name == "discard":
		p.queued, p.watches = nil, p.watches && replies[0].Failed("ERR ")
	case replies[0].Kind == '-':
		p.misnamed = p.misnamed || name == "hello"
	case name == "reset":
		p.proto, p.queued, p.watches = 2, nil, false
		clear(p.channels)
		clear(p.shards)
		clear(p.patterns)
	case name == "watch":
		p.watches = true
	case name == "unwatch":
		p.watches = false
	case name == "subscribe", name == "ssubscribe", name == "psubscribe":
		for _, channel := range args[1:] {
			set[channel] = true
		}
	case name == "unsubscribe", name == "sunsubscribe", name == "punsubscribe":
		if len(args) == 1 {
			clear(set)
		}
		for _, channel := range args[1:] {
			delete(set, channel)
		}
	}
}
