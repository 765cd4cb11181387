package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"
)

// appendCommand appends a command as clients send it.
func appendCommand(b []byte, args ...string) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(args)), 10)
	b = append(b, '\r', '\n')
	for _, a := range args {
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(a)), 10)
		b = append(b, '\r', '\n')
		b = append(b, a...)
		b = append(b, '\r', '\n')
	}
	return b
}

// wire is a client's connection that does next to nothing by itself: its cost
// is part of every latency measured with it. Only replies of one line can come.
type wire struct {
	conn net.Conn
	r    *bufio.Reader
	b    []byte
}

// patience is more than any reply may take.
const patience = 15 * time.Second

func dialWire(addr string) (*wire, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, r: bufio.NewReaderSize(conn, 1024)}, nil
}

// errRefused is that the lock is held.
var errRefused = errors.New("refused")

// limit sets when the connection's patience is at an end.
func (w *wire) limit(until time.Time) error { return w.conn.SetDeadline(until.Add(patience)) }

// do sends a command and checks its reply.
func (w *wire) do(want string, args ...string) error {
	w.b = appendCommand(w.b[:0], args...)
	if _, err := w.conn.Write(w.b); err != nil {
		return err
	}
	line, err := w.r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if string(line) == "$-1\r\n" {
		return errRefused
	}
	if string(line) != want {
		return fmt.Errorf("%.80q is answered %q, want %q", args, line, want)
	}
	return nil
}

func (w *wire) close() { w.conn.Close() }

// sampleOf makes a sample of the latencies of a time.
func sampleOf(latencies []time.Duration, lasted time.Duration) sample {
	slices.Sort(latencies)
	at := func(part float64) time.Duration {
		if len(latencies) == 0 {
			return 0
		}
		return latencies[int(part*float64(len(latencies)-1))]
	}
	return sample{operations: len(latencies), perSecond: float64(len(latencies)) / lasted.Seconds(), p50: at(.5), p99: at(.99), p999: at(.999)}
}
