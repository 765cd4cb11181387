package commands

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// What recognise says of a script is checked against what the script does when
// a Lua carries it out: that of miniredis, or of the server named here.
var scriptServer = flag.String("script-server", "", "host:port of a Redis of the tests' own, for the scripts to run on")

// luaServer is a connection to a server that runs scripts.
type luaServer struct {
	conn net.Conn
	in   *bufio.Reader
}

func newLuaServer(t testing.TB) *luaServer {
	t.Helper()
	addr := *scriptServer
	if addr == "" {
		addr = miniredis.RunT(t).Addr()
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &luaServer{conn: conn, in: bufio.NewReader(conn)}
}

func (s *luaServer) do(t testing.TB, args ...string) Reply {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(s.conn, out.String()); err != nil {
		t.Fatal(err)
	}
	r, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	return r
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
