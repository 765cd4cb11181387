package integration

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// RawReply is one reply as it came, byte for byte, and taken apart.
type RawReply struct {
	Raw   string
	Kind  byte   // as on the wire; 0 is the end of the connection
	Text  string // of a line, or of a string
	Null  bool
	Elems []RawReply
}

// ReadRaw reads one reply, with every element of it.
func ReadRaw(r *bufio.Reader) (RawReply, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return RawReply{}, err
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") {
		return RawReply{}, fmt.Errorf("reply line %q", line)
	}
	reply := RawReply{Raw: line, Kind: line[0], Text: line[1 : len(line)-2]}
	switch reply.Kind {
	case '+', '-', ':', '_', '#', ',', '(':
		reply.Null = reply.Kind == '_'
		return reply, nil
	}
	n, err := strconv.Atoi(reply.Text)
	if err != nil {
		return reply, fmt.Errorf("reply line %q: %w", line, err)
	}
	if reply.Text = ""; n < 0 {
		reply.Null = true
		return reply, nil
	}
	switch reply.Kind {
	case '$', '=', '!':
		b := make([]byte, n+2)
		_, err := io.ReadFull(r, b)
		reply.Raw += string(b)
		reply.Text = string(b[:n])
		return reply, err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return reply, fmt.Errorf("reply line %q", line)
	}
	for range n {
		e, err := ReadRaw(r)
		if err != nil {
			return reply, err
		}
		reply.Raw += e.Raw
		reply.Elems = append(reply.Elems, e)
	}
	return reply, nil
}

// Failed tells that the reply is an error that begins with a text.
func (r *RawReply) Failed(prefix string) bool {
	return r.Kind == '-' && strings.HasPrefix(r.Text, prefix)
}
