package master

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// ear is a connection of its own to one master, on which that says something by itself.
type ear struct {
	gate  *Gate
	RunID string      // of the process that says it
	stop  func() bool // of what closes the connection when it is to live no longer
}

// open connects to the master, finds out who it is, and has begin say what is to be heard. All that is bounded by
// dialing; the connection ends with life, and is the caller's to close.
func (e *ear) open(m *Master, dialing, life context.Context, longest int64, begin func() error) error {
	conn, err := m.connect(dialing)
	if err != nil {
		return err
	}
	e.stop = context.AfterFunc(life, func() { conn.Close() })
	if err = e.meet(m, conn, longest); err == nil {
		err = begin()
	}
	if err != nil {
		e.stop()
		conn.Close()
	}
	return err
}

func (e *ear) meet(m *Master, conn net.Conn, longest int64) error {
	conn, err := m.secure(conn)
	if err != nil {
		return err
	}
	e.gate = &Gate{conn: conn, r: bufio.NewReaderSize(conn, 16<<10), Longest: longest}
	if err := e.gate.authenticate(m.credentials()); err != nil {
		return err
	}
	answers, err := e.gate.Ask([]string{"INFO"})
	if err != nil {
		return err
	}
	if err := answers[0].Err(); err != nil {
		return err
	}
	who, err := readInfo(answers[0].Str)
	e.RunID = who.RunID
	return err
}

// Close ends the connection.
func (e *ear) Close() {
	e.stop()
	e.gate.Close()
}

// wait waits until there is something to read. A master that says nothing for as long as silence is asked by ping
// whether it is still there, and has patience to say so; that it has not is an error.
func (e *ear) wait(silence, patience time.Duration, ping func() error) error {
	e.gate.conn.SetReadDeadline(time.Now().Add(silence))
	_, err := e.gate.r.Peek(1)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	e.gate.conn.SetDeadline(time.Now().Add(patience))
	if err := ping(); err != nil {
		return err
	}
	_, err = e.gate.r.Peek(1)
	return err
}
