package integration

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// replyTimeout is how long a Client waits for a reply before it calls the
// server hung. It is longer than anything that the program may take.
const replyTimeout = 60 * time.Second

// Client is a plain RESP client that hides nothing: it neither retries nor
// reconnects, and shows replies as they came.
//
// A reply is a string (simple or bulk), an int64, nil, a Failure, a bool, a
// float64, a []any, or a Map. It is not safe for concurrent use.
type Client struct {
	Conn net.Conn
	r    *bufio.Reader
}

// Failure is an error reply, without its leading '-'.
type Failure string

func (f Failure) Error() string { return string(f) }

// Map is a RESP3 map, in the order in which it came: key, value, key, value.
type Map []any

// Dial connects to "host:port" or to the path of a unix socket.
func Dial(addr string) (*Client, error) {
	conn, err := net.DialTimeout(network(addr), addr, replyTimeout)
	if err != nil {
		return nil, err
	}
	return NewClient(conn), nil
}

// DialTLS is Dial over TLS.
func DialTLS(addr string, config *tls.Config) (*Client, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: replyTimeout}, "tcp", addr, config)
	if err != nil {
		return nil, err
	}
	return NewClient(conn), nil
}

// NewClient takes over conn.
func NewClient(conn net.Conn) *Client {
	return &Client{Conn: conn, r: bufio.NewReader(conn)}
}

func network(addr string) string {
	if strings.HasPrefix(addr, "/") {
		return "unix"
	}
	return "tcp"
}

// Close ends the connection.
func (c *Client) Close() error { return c.Conn.Close() }

// Do sends one command and reads one reply. An error reply is a value of type
// Failure; err is about the connection alone.
func (c *Client) Do(args ...string) (reply any, err error) {
	if err := c.Send(args...); err != nil {
		return nil, err
	}
	return c.Receive()
}

// Send sends one command and leaves the reply to Receive.
func (c *Client) Send(args ...string) error { return c.SendRaw(Encode(args...)) }

// SendRaw sends bytes as they are.
func (c *Client) SendRaw(b []byte) error {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(replyTimeout)); err != nil {
		return err
	}
	_, err := c.Conn.Write(b)
	return err
}

// Encode is the command as an array of bulk strings.
func Encode(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// Receive reads one reply, with every element of it.
func (c *Client) Receive() (any, error) { return c.ReceiveWithin(replyTimeout) }

// ReceiveWithin is Receive with another patience.
func (c *Client) ReceiveWithin(d time.Duration) (any, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	return c.read()
}

func (c *Client) read() (any, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") {
		return nil, fmt.Errorf("reply line %q", line)
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return text, nil
	case '-':
		return Failure(text), nil
	case ':':
		return strconv.ParseInt(text, 10, 64)
	case '_':
		return nil, nil
	case '#':
		return text == "t", nil
	case ',':
		return strconv.ParseFloat(text, 64)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("reply line %q: %w", line, err)
	}
	switch kind {
	case '$', '=', '!':
		return c.readBulk(kind, n)
	case '*', '~', '>':
		if n < 0 {
			return nil, nil
		}
		return c.readElems(n)
	case '%':
		elems, err := c.readElems(2 * n)
		return Map(elems), err
	}
	return nil, fmt.Errorf("reply line %q", line)
}

func (c *Client) readBulk(kind byte, n int) (any, error) {
	if n < 0 {
		return nil, nil
	}
	b := make([]byte, n+2)
	for read := 0; read < len(b); {
		m, err := c.r.Read(b[read:])
		if err != nil {
			return nil, err
		}
		read += m
	}
	text := string(b[:n])
	switch {
	case string(b[n:]) != "\r\n":
		return nil, errors.New("bulk string of another length than announced")
	case kind == '!':
		return Failure(text), nil
	case kind == '=' && n >= 4:
		return text[4:], nil
	}
	return text, nil
}

func (c *Client) readElems(n int) ([]any, error) {
	elems := make([]any, n)
	for i := range elems {
		v, err := c.read()
		if err != nil {
			return nil, err
		}
		elems[i] = v
	}
	return elems, nil
}
