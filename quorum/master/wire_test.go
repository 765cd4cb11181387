package master

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// answering is a connection that is asked something, and answers with what it has in pieces.
type answering struct {
	chunked
	asked bytes.Buffer
}

func (c *answering) Write(p []byte) (int, error) { return c.asked.Write(p) }

// answerTo makes a reply at random, and what is to be read of it.
func answerTo(r *rand.Rand, depth int) (string, decide.Answer) {
	switch k := r.IntN(9); {
	case k == 0:
		return "+OK\r\n", decide.Answer{Kind: quorum.BulkReply, Str: "OK"}
	case k == 1:
		return "+QUEUED\r\n", decide.Answer{Kind: quorum.BulkReply, Str: "QUEUED"}
	case k == 2:
		return "-WRONGTYPE of a key\r\n", decide.Failure("WRONGTYPE of a key")
	case k == 3:
		n := r.Int64() - r.Int64()
		return integer(n), decide.Answer{Kind: quorum.IntegerReply, Int: n}
	case k == 4:
		return []string{"$-1\r\n", "*-1\r\n"}[r.IntN(2)], decide.Answer{Kind: quorum.NilReply}
	case k <= 6 && depth > 0:
		a := decide.Answer{Kind: quorum.ArrayReply, Elems: []decide.Answer{}}
		var parts []string
		for range r.IntN(4) {
			text, e := answerTo(r, depth-1)
			parts, a.Elems = append(parts, text), append(a.Elems, e)
		}
		return array(parts...), a
	}
	s := strings.Repeat(string("ax\r\n$*"[r.IntN(6)]), []int{0, 1, 20, 3000, 100_000}[r.IntN(5)])
	return bulk(s), decide.Answer{Kind: quorum.BulkReply, Str: s}
}

// What comes on the wire is what was sent, in whatever pieces, and what is asked is RESP.
func TestWireReadsWhatAMasterAnswers(t *testing.T) {
	r := seeded(t)
	for range 1500 {
		var data, asked []byte
		var want []decide.Answer
		var commands []rueidis.Completed
		for range 1 + r.IntN(5) {
			text, a := answerTo(r, 3)
			data, want = append(data, text...), append(want, a)
			argv := []string{"SET", strings.Repeat("k", r.IntN(12)), strings.Repeat("v", []int{0, 9, 10, 99, 40_000, 80_000}[r.IntN(6)])}
			commands = append(commands, rueidis.Builder{}.Arbitrary(argv...).Build())
			asked = append(asked, array(bulk(argv[0]), bulk(argv[1]), bulk(argv[2]))...)
		}
		sizes := []int{1 + r.IntN(9), 1 + r.IntN(5000), 1 << 20}[r.IntN(3)]
		c := &answering{chunked: chunked{data: data, sizes: func() int { return sizes }}}
		g := newFramedConn(c, nil)
		g.expect(len(commands))
		w := newWire(g, time.Second)
		got, err := w.exchange(commands, nil)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%.200q was read as %.200v, %v; want %.200v", data, got, err, want)
		}
		if !bytes.Equal(c.asked.Bytes(), asked) {
			t.Fatalf("it was asked %.200q, want %.200q", c.asked.Bytes(), asked)
		}
	}
}

func TestWireTellsThatAMasterIsGone(t *testing.T) {
	for _, cut := range []string{"", "+O", "$5\r\nab", "*2\r\n:1\r\n", "$100000\r\n" + strings.Repeat("x", 99_000)} {
		g := newFramedConn(&answering{chunked: chunked{data: []byte(cut), sizes: func() int { return 1 << 20 }}}, nil)
		g.expect(1)
		w := newWire(g, time.Second)
		if got, err := w.exchange([]rueidis.Completed{AskTime}, nil); err == nil {
			t.Errorf("%.20q was read as %v", cut, got)
		}
	}
}
