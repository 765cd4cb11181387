package master

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
	"unsafe"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/marker"
)

// Gate is the conversation on the raw connection. It reads nothing that was
// not asked for, so that nothing is lost when rueidis takes over.
type Gate struct {
	conn net.Conn
	r    *bufio.Reader

	Longest int64 // string that is read, in bytes; at least maxGateBulk
	nils    bool  // a string may be missing
	pushes  bool  // RESP3 is spoken, once it was asked for
	most    int64 // bytes that are read from now on, about; 0: as many as come
}

// NewGate is the conversation on a connection on which nothing has been said yet, or all of
// which was heard.
func NewGate(conn net.Conn) *Gate {
	return &Gate{conn: conn, r: bufio.NewReaderSize(conn, 4096), nils: true}
}

// Meet connects to the master, and stays at the gate: for somebody who asks it a few things.
// Everything is bounded by the deadline of ctx, what is asked afterwards, too. The conversation is
// the caller's to close.
func (m *Master) Meet(ctx context.Context) (*Gate, marker.Identity, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, marker.Identity{}, fmt.Errorf("it cannot be reached: %w", err)
	}
	secured, err := m.secure(conn)
	var who marker.Identity
	if err == nil {
		who, err = m.identify(secured, marker.Identity{})
	}
	if err != nil {
		conn.Close()
		return nil, marker.Identity{}, fmt.Errorf("it cannot be used: %w", err)
	}
	return NewGate(secured), who, nil
}

// Knock connects to a server and authenticates, and asks nothing else: for somebody who wants to
// hear also of one that can be no master. Everything is bounded by the deadline of ctx. The
// conversation is the caller's to close.
func (m *Master) Knock(ctx context.Context) (*Gate, error) {
	conn, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	secured, err := m.secure(conn)
	if err == nil {
		g := NewGate(secured)
		if err = g.authenticate(m.credentials()); err == nil {
			return g, nil
		}
	}
	conn.Close()
	return nil, err
}

// Within bounds what is asked from now on, instead of the deadline that the connection had.
func (g *Gate) Within(d time.Duration) { g.conn.SetDeadline(time.Now().Add(d)) }

// Close ends the connection.
func (g *Gate) Close() { g.conn.Close() }

// authenticate does nothing without a password.
func (g *Gate) authenticate(user, password string) error {
	if password == "" {
		return nil
	}
	call := []string{"AUTH", password}
	if user != "" {
		call = []string{"AUTH", user, password}
	}
	answers, err := g.Ask(call)
	if err != nil {
		return err
	}
	return answers[0].Err()
}

// Ask sends the calls at once and reads one answer for each. An error that the master answers
// is an answer; after an error of Ask's own the connection is of no more use.
func (g *Gate) Ask(calls ...[]string) ([]decide.Answer, error) {
	if err := g.send(calls...); err != nil {
		return nil, err
	}
	answers := make([]decide.Answer, len(calls))
	for i := range answers {
		a, err := g.read(gateDepth)
		if err != nil {
			return nil, err
		}
		answers[i] = a
	}
	if g.r.Buffered() > 0 {
		return nil, errSurplus
	}
	return answers, nil
}

// gateDepth is how deep arrays are nested: HELLO tells in a list of modules of each what it was started with.
const gateDepth = 4

func (g *Gate) send(calls ...[]string) error {
	var b []byte
	for _, call := range calls {
		b = fmt.Appendf(b, "*%d\r\n", len(call))
		for _, arg := range call {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
		}
	}
	_, err := g.conn.Write(b)
	return err
}

// maxGateBulk bounds a string that a server sends before it is known: INFO is
// the longest.
const maxGateBulk = 1 << 20

// affords tells that n bytes may be read, or are to be held, where all that comes is bounded.
func (g *Gate) affords(n int64) bool {
	if g.most == 0 {
		return true
	}
	g.most = max(g.most-n, 1)
	return g.most > 1
}

// read reads one value, of RESP2 unless there may be pushes, arrays nested up to depth.
func (g *Gate) read(depth int) (decide.Answer, error) {
	line, err := g.r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			err = ErrGarbage
		}
		return decide.Answer{}, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return decide.Answer{}, ErrGarbage
	}
	if !g.affords(int64(len(line))) {
		return decide.Answer{}, ErrGarbage
	}
	text := string(line[1 : len(line)-2])
	switch line[0] {
	case '+':
		return decide.Answer{Kind: quorum.BulkReply, Str: text}, nil
	case '-':
		return decide.Failure(text), nil
	}
	if line[0] == '_' && text == "" && g.pushes {
		return decide.Answer{Kind: quorum.NilReply}, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return decide.Answer{}, ErrGarbage
	}
	kind := line[0]
	switch {
	case !g.pushes:
	case kind == '>':
		kind = '*'
	case kind == '%' && n <= decide.MaxElems:
		kind, n = '*', 2*n
	}
	switch {
	case kind == ':':
		return decide.Answer{Kind: quorum.IntegerReply, Int: n}, nil
	case kind == '$' && n == -1 && g.nils:
		return decide.Answer{Kind: quorum.NilReply}, nil
	case kind == '$' && n >= 0 && n <= max(g.Longest, maxGateBulk) && g.affords(n):
		b := make([]byte, n+2)
		if _, err := io.ReadFull(g.r, b); err != nil {
			return decide.Answer{}, err
		}
		return decide.Answer{Kind: quorum.BulkReply, Str: string(b[:n])}, nil
	case kind == '*' && n >= 0 && n <= decide.MaxElems && depth > 0 && g.affords(n*int64(unsafe.Sizeof(decide.Answer{}))):
		a := decide.Answer{Kind: quorum.ArrayReply, Elems: make([]decide.Answer, n)}
		for i := range a.Elems {
			if a.Elems[i], err = g.read(depth - 1); err != nil {
				return decide.Answer{}, err
			}
		}
		return a, nil
	}
	return decide.Answer{}, ErrGarbage
}
