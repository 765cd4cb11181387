package master

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// endless is a connection on which a text comes again and again.
type endless struct {
	chunked
	begins, goesOn string
	left           int
}

func (c *endless) Read(p []byte) (n int, err error) {
	for n < len(p) && (len(c.begins) > 0 || c.left > 0) {
		if len(c.begins) == 0 {
			c.begins = c.goesOn[:min(len(c.goesOn), c.left)]
			c.left -= len(c.begins)
		}
		m := copy(p[n:], c.begins)
		c.begins = c.begins[m:]
		n += m
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Whatever a master says, no more of it is handed on than there is room for, and the room is
// as large as before when it is over.
func TestAMasterThatLiesIsHeldToItsRoom(t *testing.T) {
	const most = 1 << 20
	long := strings.Repeat("x", 60<<10)
	for name, lie := range map[string]*endless{
		"a string of 512 MiB":             {begins: "$536870912\r\n", goesOn: long, left: 8 << 20},
		"a string in an array":            {begins: "*2\r\n:1\r\n$536870912\r\n", goesOn: long, left: 8 << 20},
		"an array of many strings":        {begins: "*4096\r\n", goesOn: bulk(long), left: 16 << 20},
		"an array of many lines":          {begins: "*4096\r\n", goesOn: "+" + long + "\r\n", left: 16 << 20},
		"an array of many errors":         {begins: "*4096\r\n", goesOn: "-ERR " + long + "\r\n", left: 16 << 20},
		"arrays in an array":              {begins: "*4096\r\n", goesOn: "*4096\r\n" + strings.Repeat(":1\r\n", 4095), left: 16 << 20},
		"arrays that end in arrays":       {goesOn: "*4096\r\n" + strings.Repeat(":1\r\n", 4095), left: 16 << 20},
		"arrays of one without end":       {goesOn: "*1\r\n", left: 16 << 20},
		"arrays of two without end":       {goesOn: "*2\r\n", left: 16 << 20},
		"many replies of somewhat less":   {goesOn: bulk(long[:32<<10]), left: 16 << 20},
		"many replies that are just long": {goesOn: bulk(long[:Small]), left: 8 << 20},
		"a map":                           {goesOn: "%1000000\r\n+a\r\n+b\r\n", left: 1 << 20},
		"a push":                          {goesOn: ">1000000\r\n+message\r\n", left: 1 << 20},
		"huge counts":                     {goesOn: "*9223372036854775807\r\n", left: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			g := newFramedConn(lie, &Room{Most: most})
			g.expect(4000)
			handed, peak := 0, int64(0)
			for p := make([]byte, 64<<10); ; {
				n, err := g.Read(p)
				handed += n
				peak = max(peak, g.room.Used.Load())
				if err != nil {
					break
				}
			}
			if handed > most+most/4 || peak > most+most/4 {
				t.Errorf("%d bytes were handed on, and %d of the room taken", handed, peak)
			}
			g.giveAll()
			if used := g.room.Used.Load(); used != 0 {
				t.Errorf("%d bytes are taken when the link has ended", used)
			}
		})
	}
}

// What there is no room for is replaced, and what is around it is as it was; and what it has
// cost is what is given back.
func TestWhatIsLeftOutIsAnErrorInItsPlace(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	many := "*1000\r\n" + strings.Repeat(":7\r\n", 1000)
	for _, test := range []struct{ sent, came string }{
		{bulk(long) + "+OK\r\n", "-TOOLONG 102400 bytes are more than there is room for\r\n+OK\r\n"},
		{array(bulk("a"), bulk(long), bulk("b")) + ":1\r\n", array(bulk("a"), "-TOOLONG 102400 bytes are more than there is room for\r\n", bulk("b")) + ":1\r\n"},
		{array(bulk(long), bulk(long)), array("-TOOLONG 102400 bytes are more than there is room for\r\n", "-TOOLONG 102400 bytes are more than there is room for\r\n")},
		{"+" + long[:60<<10] + "\r\n-ERR " + long[:60<<10] + "\r\n", "-TOOLONG 61440 bytes are more than there is room for\r\n-TOOLONG 61444 bytes are more than there is room for\r\n"},
		{many + bulk("a"), "-TOOLONG 128000 bytes are more than there is room for\r\n" + bulk("a")},
		{array(many, array(many, bulk(long)), bulk("b")) + bulk(""), array("-TOOLONG 128000 bytes are more than there is room for\r\n", array("-TOOLONG 128000 bytes are more than there is room for\r\n", "-TOOLONG 102400 bytes are more than there is room for\r\n"), bulk("b")) + bulk("")},
		{array("*2\r\n*1000\r\n" + strings.Repeat("*1\r\n"+bulk("c"), 1000) + bulk("d")), array("*2\r\n-TOOLONG 128000 bytes are more than there is room for\r\n" + bulk("d"))},
		{bulk(long[:10<<10]) + bulk(long), bulk(long[:10<<10]) + "-TOOLONG 102400 bytes are more than there is room for\r\n"},
	} {
		for _, size := range []int{1, 7, 1000, 1 << 20} {
			g := newFramedConn(&chunked{data: []byte(test.sent), sizes: func() int { return size }}, &Room{Most: 50 << 10})
			g.expect(2)
			got, err := io.ReadAll(g)
			if err != nil || string(got) != test.came {
				t.Fatalf("%.60q in pieces of %d came through as %.200q, %v", test.sent, size, got, err)
			}
		}
	}
}

func TestTheRoomThatRepliesTakeIsGivenBack(t *testing.T) {
	r := seeded(t)
	for range 2000 {
		var data []byte
		n := 1 + r.IntN(4)
		for range n {
			switch r.IntN(3) {
			case 0:
				data = append(data, bulk(strings.Repeat("x", r.IntN(20<<10)))...)
			case 1:
				data = append(data, array(bulk(strings.Repeat("y", r.IntN(20<<10))), array(randomReply(r, 3), bulk(strings.Repeat("z", r.IntN(20<<10)))))...)
			default:
				data = append(data, randomReply(r, 3)...)
			}
		}
		g := newFramedConn(&chunked{data: data, sizes: func() int { return 1 + r.IntN(9000) }}, &Room{Most: 24 << 10})
		g.expect(n)
		in := bufio.NewReader(g)
		link := &Link{framed: g}
		cost := 0
		for range n {
			m, err := readMessage(in)
			if err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			cost += CostOf(&m)
		}
		link.framed.give(cost)
		if used := g.room.Used.Load(); used != 0 {
			t.Fatalf("%q: %d bytes are taken that were given back", data, used)
		}
	}
}

// readMessage reads an answer as rueidis would.
func readMessage(r *bufio.Reader) (a decide.Answer, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return a, err
	}
	text, n := line[1:len(line)-2], 0
	switch line[0] {
	case '+':
		return decide.Answer{Kind: quorum.BulkReply, Str: text}, nil
	case '-':
		return decide.Answer{Kind: quorum.FailureReply, Str: text}, nil
	case ':':
		return decide.Answer{Kind: quorum.IntegerReply}, nil
	}
	if _, err := fmt.Sscan(text, &n); err != nil || n < 0 {
		return decide.Answer{Kind: quorum.NilReply}, err
	}
	if line[0] == '$' {
		b := make([]byte, n+2)
		_, err := io.ReadFull(r, b)
		return decide.Answer{Kind: quorum.BulkReply, Str: string(b[:n])}, err
	}
	a.Elems = make([]decide.Answer, n)
	for i := range a.Elems {
		if a.Elems[i], err = readMessage(r); err != nil {
			return a, err
		}
	}
	return a, nil
}
