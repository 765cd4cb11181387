package master

import (
	"bufio"
	"io"
	"strconv"
	"time"
	"unsafe"

	"github.com/redis/rueidis"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// wire carries one batch at a time on a link; as soon as there are to be several, rueidis does, for which both use the
// connection in turn: neither reads further than its own answers.
//
// Most of what a proxy does it does for batches to masters that are near. Beside a build that had rueidis carry these,
// too, it takes .93 of the processor time for a command with a pipeline of 16 and 50 clients, and .92 with 50 clients
// alone (five and four turns in turns, on two cores that others used as well): a command is encoded in one piece of
// memory that is used again, and an answer is read once.
type wire struct {
	conn     *framedConn
	patience time.Duration
	out      []byte
	in       *bufio.Reader

	socket socket // nil: there is none, or not it alone
	calm   int    // how many exchanges there were since anybody waited on it, see Send
}

func newWire(conn *framedConn, patience time.Duration) wire {
	w := wire{conn: conn, patience: patience, in: bufio.NewReaderSize(conn, maxReplyLine+len("\r\n"))}
	w.socket, _ = conn.Conn.(socket)
	return w
}

// A batch that is long is sent in pieces, which the master carries out while the next is made.
const pieceSize = 32 << 10

// exchange sends commands, and appends the answers to those given.
func (w *wire) exchange(commands []rueidis.Completed, answers []decide.Answer) ([]decide.Answer, error) {
	w.conn.SetDeadline(time.Now().Add(w.patience))
	if err := w.send(commands); err != nil {
		return nil, err
	}
	return w.received(len(commands), answers)
}

// received appends the next n answers to those given.
func (w *wire) received(n int, answers []decide.Answer) ([]decide.Answer, error) {
	for range n {
		answers = append(answers, decide.Answer{})
		if err := w.read(&answers[len(answers)-1]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func (w *wire) send(commands []rueidis.Completed) error {
	out := w.out[:0]
	for _, c := range commands {
		if out = appendCommand(out, c.Commands()); len(out) < pieceSize {
			continue
		}
		if _, err := w.conn.Write(out); err != nil {
			return err
		}
		if out = out[:0]; cap(out) > 2*pieceSize { // it was for a long value
			out = nil
		}
	}
	w.out = out[:0]
	if len(out) == 0 {
		return nil
	}
	_, err := w.conn.Write(out)
	return err
}

// appendCommand appends a command as RESP has it.
func appendCommand(b []byte, argv []string) []byte {
	b = appendLength(b, '*', len(argv))
	for _, arg := range argv {
		b = appendLength(b, '$', len(arg))
		b = append(b, arg...)
		b = append(b, '\r', '\n')
	}
	return b
}

func appendLength(b []byte, of byte, n int) []byte {
	if n < 10 {
		return append(b, of, '0'+byte(n), '\r', '\n')
	}
	b = strconv.AppendInt(append(b, of), int64(n), 10)
	return append(b, '\r', '\n')
}

// read reads an answer, which is well-formed, and no longer than there is room for: framedConn has seen to that.
func (w *wire) read(a *decide.Answer) error {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+':
		*a = decide.Answer{Kind: quorum.BulkReply, Str: wordOf(text)}
		return nil
	case '-':
		*a = decide.Failure(string(text))
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	switch {
	case err != nil:
		return err
	case line[0] == ':':
		*a = decide.Answer{Kind: quorum.IntegerReply, Int: n}
		return nil
	case n < 0:
		*a = decide.Answer{Kind: quorum.NilReply}
		return nil
	case line[0] == '$':
		a.Kind = quorum.BulkReply
		a.Str, err = w.bulk(int(n))
		return err
	}
	*a = decide.Answer{Kind: quorum.ArrayReply, Elems: make([]decide.Answer, n)}
	for i := range a.Elems {
		if err := w.read(&a.Elems[i]); err != nil {
			return err
		}
	}
	return nil
}

// wordOf is a status as a string, without memory of its own where it is the usual one.
func wordOf(text []byte) string {
	if string(text) == "OK" {
		return "OK"
	}
	return string(text)
}

// bulk reads a string of n bytes, and its line end.
func (w *wire) bulk(n int) (s string, err error) {
	if n+2 <= w.in.Size() {
		b, err := w.in.Peek(n + 2)
		if err != nil {
			return "", err
		}
		s = string(b[:n])
		_, err = w.in.Discard(n + 2)
		return s, err
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(w.in, b); err != nil {
		return "", err
	}
	return unsafe.String(&b[0], n), nil // nobody writes there any more
}
