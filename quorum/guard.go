package quorum

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
)

// Limits on what a master may send. The commands that we send have small
// replies, but for the values that clients themselves have stored.
const (
	maxReplyBulk  = 512 << 20 // Redis's own limit
	maxReplyElems = 4096
	maxPageElems  = 64 << 10 // of a survey: some masters tell all keys at once
	maxReplyLine  = 64 << 10
)

var (
	errSurplus = errors.New("the master sent a reply that nobody asked for")
	errGarbage = errors.New("the master sent what is no RESP2")
)

// guard is a connection to a master that hands on exactly as many well-formed
// replies as were asked for. rueidis panics on a reply that it does not expect,
// would take a surplus reply for the answer to the next command, and allocates
// whatever length it is told; so what is wrong ends the connection here, before
// rueidis sees it.
//
// One goroutine reads at a time, and others may be about to send meanwhile.
type guard struct {
	net.Conn
	err     error        // sticky
	most    atomic.Int32 // values in one array; 0 is maxReplyElems
	replies atomic.Int64 // still expected
	elems   int          // of the reply being read: values still to come, 0 between replies
	skip    int64        // bytes of a bulk string and its line end still to come
	line    []byte
	closed  atomic.Bool
}

// expect tells the guard that n commands are about to be sent.
func (g *guard) expect(n int) { g.replies.Add(int64(n)) }

// allow tells the guard whether there are surveys among the next commands.
func (g *guard) allow(surveys bool) {
	most := int32(maxReplyElems)
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
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.Conn.Read(p)
	if bad := g.inspect(p[:n]); bad != nil {
		g.err = bad
		g.Close()
		return 0, bad
	}
	return n, err
}

// inspect follows the frames of the replies in p.
func (g *guard) inspect(p []byte) error {
	for len(p) > 0 {
		if g.skip > 0 {
			n := min(g.skip, int64(len(p)))
			g.skip -= n
			p = p[n:]
			if g.skip == 0 {
				g.value()
			}
			continue
		}
		if g.replies.Load() == 0 {
			return errSurplus
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			if len(g.line)+len(p) > maxReplyLine {
				return errGarbage
			}
			g.line = append(g.line, p...)
			return nil
		}
		line := p[:end+1]
		if len(g.line) > 0 {
			line = append(g.line, line...)
		}
		p = p[end+1:]
		if err := g.header(line); err != nil {
			return err
		}
		g.line = g.line[:0]
	}
	return nil
}

// header reads one line: a whole value, or the length of a string or an array.
func (g *guard) header(line []byte) error {
	if len(line) < 3 || line[len(line)-2] != '\r' || len(line) > maxReplyLine {
		return errGarbage
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+', '-':
		g.value()
		return nil
	case ':':
		if _, err := strconv.ParseInt(string(text), 10, 64); err != nil {
			return errGarbage
		}
		g.value()
		return nil
	case '$', '*':
	default:
		return errGarbage
	}
	n, err := strconv.Atoi(string(text))
	switch {
	case err != nil || n < -1:
		return errGarbage
	case n == -1:
		g.value()
	case line[0] == '$':
		if n > maxReplyBulk {
			return fmt.Errorf("the master sent a string of %d bytes", n)
		}
		g.skip = int64(n) + 2
	case n == 0:
		g.value()
	default:
		if most := max(int(g.most.Load()), maxReplyElems); n > most || g.elems > most {
			return fmt.Errorf("the master sent an array of %d", n)
		}
		// The array itself is one of the values to come, n more follow.
		g.elems = max(g.elems, 1) + n - 1
	}
	return nil
}

// value notes that one value is complete.
func (g *guard) value() {
	if g.elems > 1 {
		g.elems--
		return
	}
	g.elems = 0
	g.replies.Add(-1)
}
