package master

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum/decide"
)

// chunked is a connection that gives what it has in the pieces asked for.
type chunked struct {
	net.Conn
	data   []byte
	sizes  func() int
	closed bool
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), max(c.sizes(), 1))], c.data)
	c.data = c.data[n:]
	return n, nil
}

func (c *chunked) Close() error { c.closed = true; return nil }

func (c *chunked) SetDeadline(time.Time) error { return nil }

func randomReply(r *rand.Rand, depth int) string {
	text := strings.Repeat(string("ax\r\n$*"[r.IntN(6)]), r.IntN(20))
	flat := strings.NewReplacer("\r", "", "\n", "").Replace(text)
	switch k := r.IntN(8); {
	case k == 0:
		return "+" + flat + "\r\n"
	case k == 1:
		return "-ERR " + flat + "\r\n"
	case k == 2:
		return integer(r.Int64() - r.Int64())
	case k == 3:
		return "$-1\r\n"
	case k == 4:
		return "*-1\r\n"
	case k <= 6 && depth > 0:
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, randomReply(r, depth-1))
		}
		return array(parts...)
	}
	return bulk(text)
}

// pass reads everything through a framedConn that expects n replies.
func pass(data []byte, n int, sizes func() int) (got []byte, c *chunked, err error) {
	c = &chunked{data: bytes.Clone(data), sizes: sizes}
	g := newFramedConn(c, nil)
	g.expect(n)
	got, err = io.ReadAll(g)
	return got, c, err
}

func TestFramedConnPassesWellFormedRepliesInAnyPieces(t *testing.T) {
	r := seeded(t)
	for range 3000 {
		n := 1 + r.IntN(5)
		var data []byte
		for range n {
			data = append(data, randomReply(r, 3)...)
		}
		got, c, err := pass(data, n, func() int { return r.IntN(9) })
		if err != nil || !bytes.Equal(got, data) || c.closed {
			t.Fatalf("%q came through as %q, %v", data, got, err)
		}
		// One reply more than was asked for ends the connection.
		if _, c, err = pass(data, n-1, func() int { return r.IntN(9) }); !errors.Is(err, errSurplus) || !c.closed {
			t.Fatalf("%q with a surplus reply: %v, closed %v", data, err, c.closed)
		}
	}
}

func TestFramedConnStopsWhatIsNoReply(t *testing.T) {
	for _, data := range []string{
		"\r\n", "\n", "+OK\n", "x\r\n", "HTTP/1.1 200 OK\r\n", ":\r\n", ":1x\r\n", ":99999999999999999999\r\n",
		"$\r\n", "$-2\r\n", "$x\r\n", "$2147483648\r\n", "$99999999999999999999\r\n",
		"*-2\r\n", "*4097\r\n", "*2147483648\r\n", "*x\r\n", "*2\r\n:1\r\n?\r\n",
		"_\r\n", "%1\r\n+a\r\n+b\r\n", "~0\r\n", ">1\r\n+message\r\n", "#t\r\n", ",1.5\r\n", "(1\r\n",
		"+" + strings.Repeat("a", maxReplyLine) + "\r\n",
		strings.Repeat("a", 2*maxReplyLine),
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			got, c, err := pass([]byte(data), 3, func() int { return size })
			if err == nil || !c.closed {
				t.Errorf("%.40q in pieces of %d came through as %.40q", data, size, got)
			}
		}
	}
}

// Arrays in arrays must not add up to more than their bound.
func TestFramedConnBoundsNestedArrays(t *testing.T) {
	data := strings.Repeat(fmt.Sprintf("*%d\r\n", decide.MaxElems), 64)
	if _, c, err := pass([]byte(data), 1, func() int { return 1000 }); err == nil || !c.closed {
		t.Error("arrays in arrays came through without bound")
	}
}

func TestFramedConnStaysShut(t *testing.T) {
	c := &chunked{data: []byte("garbage\r\n+OK\r\n"), sizes: func() int { return 9 }}
	g := newFramedConn(c, nil)
	g.expect(1)
	for range 3 {
		if n, err := g.Read(make([]byte, 100)); n != 0 || err == nil {
			t.Fatalf("read %d bytes, %v", n, err)
		}
	}
}

func FuzzFramedConn(f *testing.F) {
	f.Add([]byte("+OK\r\n$3\r\nabc\r\n*2\r\n:1\r\n$-1\r\n"), 3, byte(3))
	f.Add([]byte("*2\r\n*2\r\n"), 1, byte(1))
	f.Add([]byte("$2147483647\r\n"), 1, byte(9))
	f.Add([]byte("+OK\r\n$"), 2, byte(3))
	f.Fuzz(func(t *testing.T, data []byte, n int, size byte) {
		if n < 0 || n > 1000 {
			return
		}
		whole, _, errWhole := pass(data, n, func() int { return 1 << 20 })
		pieces, _, errPieces := pass(data, n, func() int { return int(size) })
		if (errWhole == nil) != (errPieces == nil) {
			t.Fatalf("%q: %v in one piece, %v in pieces of %d", data, errWhole, errPieces, size)
		}
		// A line that was cut off is kept back: it may be one that is to be left out.
		if errWhole == nil && (!bytes.Equal(whole, pieces) || bytes.ContainsRune(data[len(whole):], '\n')) {
			t.Fatalf("%q came through as %q and %q", data, whole, pieces)
		}
		// What comes through is a beginning of what was sent, whatever it was.
		if !bytes.HasPrefix(data, pieces) {
			t.Fatalf("%q came through as %q", data, pieces)
		}
	})
}
