package recognise

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/quorum"
)

// redisServer is a connection to a real Redis: what Script says of a script is checked
// against what the script does there. It is asked in batches.
type redisServer struct {
	conn  net.Conn
	in    *bufio.Reader
	batch []byte
	asked int
}

func newRedisServer(t testing.TB) *redisServer {
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
	return &redisServer{conn: conn, in: bufio.NewReader(conn)}
}

// ask puts a command into the batch.
func (s *redisServer) ask(args ...string) {
	s.batch = append(s.batch, integration.Encode(args...)...)
	s.asked++
}

// replies sends the batch and takes what is answered to it.
func (s *redisServer) replies(t testing.TB) []quorum.Reply {
	t.Helper()
	if err := s.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.Write(s.batch); err != nil {
		t.Fatal(err)
	}
	replies := make([]quorum.Reply, s.asked)
	for i := range replies {
		var err error
		if replies[i], err = s.read(); err != nil {
			t.Fatal(err)
		}
	}
	s.batch, s.asked = s.batch[:0], 0
	return replies
}

func (s *redisServer) read() (quorum.Reply, error) {
	line, err := s.in.ReadString('\n')
	if err != nil {
		return quorum.Reply{}, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.ParseInt(line[1:], 10, 64)
	switch line[0] {
	case '+':
		return status(line[1:]), nil
	case '-':
		return failure(line[1:]), nil
	case ':':
		return integer(n), nil
	case '$':
		if n < 0 {
			return null, nil
		}
		b := make([]byte, n+2)
		_, err := io.ReadFull(s.in, b)
		return bulk(string(b[:n])), err
	case '*':
		if n < 0 {
			return null, nil
		}
		var elems []quorum.Reply
		for range n {
			e, err := s.read()
			if err != nil {
				return quorum.Reply{}, err
			}
			elems = append(elems, e)
		}
		return quorum.Reply{Kind: quorum.ArrayReply, Str: fmt.Sprint(elems)}, nil
	}
	return quorum.Reply{}, errors.New("no RESP2: " + line)
}

// The replies, as a master gives them. An array is told from another by how it prints.
var null = quorum.Reply{Kind: quorum.NilReply}

func integer(n int64) quorum.Reply  { return quorum.Reply{Kind: quorum.IntegerReply, Int: n} }
func bulk(s string) quorum.Reply    { return quorum.Reply{Kind: quorum.BulkReply, Str: s} }
func status(s string) quorum.Reply  { return quorum.Reply{Kind: quorum.StatusReply, Str: s} }
func failure(s string) quorum.Reply { return quorum.Reply{Kind: quorum.FailureReply, Str: s} }
