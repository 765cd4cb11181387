package transcript

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long a reply may take.
const patience = 10 * time.Second

// Wire is a Conn over the network.
type Wire struct {
	conn net.Conn
	r    *bufio.Reader
}

// NewWire speaks over a connection, which remains the caller's to close.
func NewWire(conn net.Conn) *Wire { return &Wire{conn, bufio.NewReader(conn)} }

func (w *Wire) Send(args []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	_, err := io.WriteString(w.conn, b.String())
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return nil // Receive tells that the connection is closed.
	}
	return err
}

func (w *Wire) Receive() ([]string, error) {
	if err := w.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	lines, err := w.value(nil)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return []string{Closed}, nil
	}
	return lines, err
}

// value reads one value and appends its lines.
func (w *Wire) value(lines []string) ([]string, error) {
	head, err := w.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	head = strings.TrimSuffix(head, "\r\n")
	if head == "" {
		return nil, fmt.Errorf("an empty line is no reply")
	}
	n, numberErr := strconv.Atoi(head[1:])
	switch head[0] {
	case '+', '-', ':', '_', '#', ',', '(':
		return append(lines, head), nil
	case '$', '=':
		if numberErr != nil || n < 0 {
			return nullOr(lines, head)
		}
		return w.bulk(lines, head[0], n)
	case '*', '~', '>', '%':
		if numberErr != nil || n < 0 {
			return nullOr(lines, head)
		}
		if head[0] == '%' {
			n *= 2
		}
		lines = append(lines, head)
		for range n {
			if lines, err = w.value(lines); err != nil {
				return nil, err
			}
		}
		return lines, nil
	}
	return nil, fmt.Errorf("%q is no reply", head)
}

func nullOr(lines []string, head string) ([]string, error) {
	if head == "$-1" || head == "*-1" {
		return append(lines, "_"), nil
	}
	return nil, fmt.Errorf("%q is no reply", head)
}

// bulk reads a bulk or verbatim string. The latter says in four bytes what kind of
// text it is.
func (w *Wire) bulk(lines []string, kind byte, n int) ([]string, error) {
	text := make([]byte, n+2)
	if _, err := io.ReadFull(w.r, text); err != nil {
		return nil, err
	}
	text = text[:n]
	if kind == '=' {
		if n < 4 || text[3] != ':' {
			return nil, fmt.Errorf("%q is no verbatim string", text)
		}
		text = text[4:]
	}
	return append(lines, "$"+string(text)), nil
}
