package master

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/quorum/decide"
)

// Limits on what a master may send. The commands that we send have small
// replies, but for the values that clients themselves have stored.
const (
	maxReplyBulk  = 512 << 20 // Redis's own limit
	maxReplyDepth = 1024      // of arrays in arrays, each of which takes stack to read
	maxPageElems  = 64 << 10  // of a survey: some masters tell all keys at once
	maxReplyLine  = 64 << 10
)

var (
	errSurplus = errors.New("the master sent a reply that nobody asked for")

	// ErrGarbage ends a connection.
	ErrGarbage = errors.New("the master sent what is no RESP2")
)

// guard is a connection to a master that hands on exactly as many well-formed
// replies as were asked for. rueidis panics on a reply that it does not expect,
// would take a surplus reply for the answer to the next command, and allocates
// whatever length it is told; so what is wrong ends the connection here, before
// rueidis sees it.
//
// What the replies take in memory is taken from the master's room, unless it is little. A
// string that there is no room for is left out: an error stands in its place, and its bytes
// are thrown away as they come. Others on the link are answered all the same.
//
// Of a master that is answering it moves the deadline of the batch on: a long answer is
// not that there is none.
//
// One goroutine reads at a time, and others may be about to send meanwhile.
type guard struct {
	net.Conn
	patience atomic.Int64 // how long it waits for a stretch of the answers; 0 if others do
	stretch  int          // bytes since it last began to
	latest   atomic.Int64 // when that was, since started; 0 if never
	err      error        // sticky
	most     atomic.Int32 // values in one array; 0 is maxReplyElems
	replies  atomic.Int64 // still expected
	elems    int          // of the reply being read: values still to come, 0 between replies
	open     []int32      // and the same of each array that it is in
	skip     int64        // bytes of a bulk string and its line end still to come
	drops    bool         // they are thrown away
	dropped  int          // how deep the array is that is thrown away; 0 if none is
	line     []byte       // of which the end is still to come
	out, buf []byte       // what is still to be handed on, and the memory for it
	closed   atomic.Bool

	room      *Room
	size      int         // of the reply being read
	paid      bool        // it is not small: its size is taken from the room
	leavesOut atomic.Bool // something was left out

	mu    sync.Mutex // guards what follows
	taken int        // from room, for replies that have not been judged
	ended bool       // all of it was given back
}

// expect tells the guard that n commands are about to be sent.
func (g *guard) expect(n int) { g.replies.Add(int64(n)) }

// allow tells the guard whether there are surveys among the next commands.
func (g *guard) allow(surveys bool) {
	most := int32(decide.MaxElems)
	if surveys {
		most = maxPageElems
	}
	g.most.Store(most)
}

func (g *guard) Close() error {
	g.closed.Store(true)
	return g.Conn.Close()
}

func (g *guard) Read(p []byte) (int, error) {
	for len(g.out) == 0 {
		if g.err != nil {
			return 0, g.err
		}
		n, err := g.Conn.Read(p)
		g.hears(n)
		kept, bad := g.inspect(p[:n])
		if bad != nil {
			g.err = bad
			g.Close()
			return 0, bad
		}
		if n = len(kept); len(p) == 0 || n > 0 && &kept[0] == &p[0] {
			return n, err
		}
		g.out, g.err = kept, err
	}
	n := copy(p, g.out)
	g.out = g.out[n:]
	return n, nil
}

// take counts n bytes more of the reply being read, if there is room for them. What is thrown
// away needs none.
func (g *guard) take(n int) bool {
	if g.room == nil || g.dropped > 0 {
		return true
	}
	size := g.size + n
	if size < Small {
		g.size = size
		return true
	}
	if !g.paid {
		n = size
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended || !g.room.Take(n) {
		return false
	}
	g.taken += n
	g.size, g.paid = size, true
	return true
}

// charge is take of a few bytes, which there must be room for.
func (g *guard) charge(n int) {
	if g.room == nil {
		return
	}
	g.size += n
	if g.size < Small {
		return
	}
	if !g.paid {
		n = g.size
	}
	g.paid = true
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.room.Add(n)
		g.taken += n
	}
}

// give gives back what answers have taken that are judged.
func (g *guard) give(n int) {
	if g.room == nil || n == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n = min(n, g.taken)
	g.taken -= n
	g.room.Add(-n)
}

// giveAll gives back all that was taken on a link that is of no more use.
func (g *guard) giveAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.room != nil {
		g.room.Add(-g.taken)
	}
	g.taken, g.ended = 0, true
}

// stretch is so much that a master which sends it is answering, and not only dripping.
const stretch = 64 << 10

// loaded is what times are told from that are kept as one word.
var loaded = time.Now()

// hears notes that n bytes have come.
func (g *guard) hears(n int) {
	if g.stretch += n; g.stretch < stretch {
		return
	}
	g.stretch = 0
	now := time.Now()
	g.latest.Store(int64(now.Sub(loaded)))
	if patience := time.Duration(g.patience.Load()); patience > 0 {
		g.Conn.SetDeadline(now.Add(patience))
	}
}

// heard is when a stretch of the answers last came, zero if none has.
func (g *guard) heard() (at time.Time) {
	if n := g.latest.Load(); n != 0 {
		at = loaded.Add(time.Duration(n))
	}
	return at
}

// inspect follows the frames of the replies in p, and returns what is to be handed on: a
// beginning of p as it is, or else a piece of memory of its own.
func (g *guard) inspect(p []byte) ([]byte, error) {
	out := passage{of: p, buf: g.buf[:0]}
	for rest := p; len(rest) > 0; {
		at := len(p) - len(rest)
		if g.skip > 0 {
			n := int(min(g.skip, int64(len(rest))))
			if !g.drops {
				out.pass(at, n)
			}
			g.skip -= int64(n)
			rest = rest[n:]
			if g.skip == 0 {
				g.value()
			}
			continue
		}
		if g.replies.Load() == 0 {
			return nil, errSurplus
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			if len(g.line)+len(rest) > maxReplyLine {
				return nil, ErrGarbage
			}
			g.line = append(g.line, rest...)
			if bytes.IndexByte([]byte("+-:$*"), g.line[0]) < 0 {
				return nil, ErrGarbage // it may have no end
			}
			break
		}
		line := rest[:end+1]
		if len(g.line) > 0 {
			line = append(g.line, line...)
		}
		dropped := g.dropped > 0
		instead, err := g.header(line)
		switch {
		case err != nil:
			return nil, err
		case dropped:
		case instead != "":
			out.put([]byte(instead))
		case len(g.line) > 0:
			out.put(line)
		default:
			out.pass(at, len(line))
		}
		rest, g.line = rest[end+1:], g.line[:0]
	}
	if g.buf = out.buf[:0]; cap(g.buf) > maxReplyLine*2 {
		g.buf = nil
	}
	return out.kept(), nil
}

// passage is what is handed on of some bytes: the beginning of them, as long as nothing is
// left out or put in, and a copy from then on.
type passage struct {
	of  []byte
	n   int // of them, while there is no copy
	own bool
	buf []byte
}

func (p *passage) pass(at, n int) {
	if !p.own && at == p.n {
		p.n += n
		return
	}
	p.put(p.of[at : at+n])
}

func (p *passage) put(b []byte) {
	if !p.own {
		p.buf, p.own = append(p.buf, p.of[:p.n]...), true
	}
	p.buf = append(p.buf, b...)
}

func (p *passage) kept() []byte {
	if p.own {
		return p.buf
	}
	return p.of[:p.n]
}

// header reads one line: a whole value, or the length of a string or an array. If instead is
// not empty it is handed on in the place of the line, and of what that announces.
func (g *guard) header(line []byte) (instead string, err error) {
	if len(line) < 3 || line[len(line)-2] != '\r' || len(line) > maxReplyLine {
		return "", ErrGarbage
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+', '-':
		if !g.take(len(text)) {
			instead = g.leaveOut(len(text))
		}
		g.value()
		return instead, nil
	case ':':
		if _, err := strconv.ParseInt(string(text), 10, 64); err != nil {
			return "", ErrGarbage
		}
		g.value()
		return "", nil
	case '$', '*':
	default:
		return "", ErrGarbage
	}
	n, err := strconv.Atoi(string(text))
	switch {
	case err != nil || n < -1:
		return "", ErrGarbage
	case n == -1:
		g.value()
	case line[0] == '$':
		if n > maxReplyBulk {
			return "", fmt.Errorf("the master sent a string of %d bytes", n)
		}
		g.skip, g.drops = int64(n)+2, g.dropped > 0
		if !g.take(n) {
			g.drops = true
			instead = g.leaveOut(n)
		}
	case n == 0:
		g.value()
	default:
		if most := max(int(g.most.Load()), decide.MaxElems); n > most || g.elems > most {
			return "", fmt.Errorf("the master sent an array of %d", n)
		}
		if len(g.open) >= maxReplyDepth {
			return "", errors.New("the master sent arrays in arrays without end")
		}
		g.open = append(g.open, int32(n))
		// The array itself is one of the values to come, n more follow.
		g.elems = max(g.elems, 1) + n - 1
		if !g.take(n * elemSize) {
			g.dropped = len(g.open)
			instead = g.leaveOut(n * elemSize)
		}
	}
	return instead, nil
}

// leaveOut is what stands in the place of n bytes that are left out.
func (g *guard) leaveOut(n int) (instead string) {
	g.leavesOut.Store(true)
	text := decide.SaysTooLong(n)
	g.charge(len(text))
	return "-" + text + "\r\n"
}

// value notes that one value is complete, and each array that ends with it.
func (g *guard) value() {
	for i := len(g.open) - 1; i >= 0; i-- {
		if g.open[i]--; g.open[i] > 0 {
			break
		}
		g.open = g.open[:i]
	}
	if g.dropped > len(g.open) {
		g.dropped = 0
	}
	if g.elems > 1 {
		g.elems--
		return
	}
	g.elems = 0
	g.size, g.paid = 0, false
	g.replies.Add(-1)
}
