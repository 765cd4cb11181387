package commands

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration"
)

// luaServer is a connection to a real Redis: what recognise says of a script is checked
// against what the script does there. It is asked in batches.
type luaServer struct {
	conn  net.Conn
	in    *bufio.Reader
	batch []byte
	asked int
}

func newLuaServer(t testing.TB) *luaServer {
	t.Helper()
	redis, err := integration.StartRedis(integration.RedisOptions{Unix: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := redis.Stop(); err != nil {
			t.Error(err)
		}
	})
	conn, err := net.Dial("unix", redis.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &luaServer{conn: conn, in: bufio.NewReader(conn)}
}

// ask puts a command into the batch.
func (s *luaServer) ask(args ...string) {
	s.batch = append(s.batch, integration.Encode(args...)...)
	s.asked++
}

// replies sends the batch and takes what is answered to it.
func (s *luaServer) replies(t testing.TB) []Reply {
	t.Helper()
	if err := s.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.Write(s.batch); err != nil {
		t.Fatal(err)
	}
	replies := make([]Reply, s.asked)
	for i := range replies {
		var err error
		if replies[i], err = s.read(); err != nil {
			t.Fatal(err)
		}
	}
	s.batch, s.asked = s.batch[:0], 0
	return replies
}

func (s *luaServer) read() (Reply, error) {
	line, err := s.in.ReadString('\n')
	if err != nil {
		return Reply{}, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.ParseInt(line[1:], 10, 64)
	switch line[0] {
	case '+':
		return Simple(line[1:]), nil
	case '-':
		return Error(line[1:]), nil
	case ':':
		return Integer(n), nil
	case '$':
		if n < 0 {
			return Null, nil
		}
		b := make([]byte, n+2)
		_, err := io.ReadFull(s.in, b)
		return Bulk(string(b[:n])), err
	case '*':
		if n < 0 {
			return Null, nil
		}
		var elems []Reply
		for range n {
			e, err := s.read()
			if err != nil {
				return Reply{}, err
			}
			elems = append(elems, e)
		}
		return Array(elems...), nil
	}
	return Reply{}, errors.New("no RESP2: " + line)
}
