package master

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"redlock-proxy/quorum"
)

// Tracking is a connection of its own to one master, on which that tells once of each key that was asked for on it when
// it changes, by whomever: what Redis has for the caches of its clients, in its default mode and RESP3. It knows keys by
// their names, whatever the database.
type Tracking struct {
	gate  *Gate
	RunID string      // of the process that tells
	stop  func() bool // of what closes the connection when it is to live no longer

	mu    sync.Mutex // guards what follows, and what is sent
	asked []string   // keys that are not answered yet, in their order; "" is a PING
}

// Track connects to the master, finds out who it is, and has it tell of changes. All that is bounded by dialing; the
// connection ends with life, and is the caller's to close. A *Refusal is that the master does not do it.
func (m *Master) Track(dialing, life context.Context) (*Tracking, error) {
	conn, err := m.connect(dialing)
	if err != nil {
		return nil, err
	}
	t := &Tracking{stop: context.AfterFunc(life, func() { conn.Close() })}
	if err := t.begin(m, conn); err != nil {
		t.stop()
		conn.Close()
		return nil, err
	}
	return t, nil
}

func (t *Tracking) begin(m *Master, conn net.Conn) error {
	conn, err := m.secure(conn)
	if err != nil {
		return err
	}
	t.gate = &Gate{conn: conn, r: bufio.NewReaderSize(conn, 16<<10), Longest: longestTracked, nils: true, pushes: true}
	if err := t.gate.authenticate(m.credentials()); err != nil {
		return err
	}
	answers, err := t.gate.Ask([]string{"INFO"}, []string{"HELLO", "3"}, []string{"CLIENT", "TRACKING", "ON"})
	if err != nil {
		return err
	}
	if err := answers[0].Err(); err != nil {
		return err
	}
	for _, a := range answers[1:] {
		if a.Err() != nil {
			return Refusal(a.Str)
		}
	}
	who, err := readInfo(answers[0].Str)
	t.RunID = who.RunID
	return err
}

// longestTracked is how long the name of a key may be that a master tells of.
const longestTracked = 64 << 10

// Close ends the connection.
func (t *Tracking) Close() {
	t.stop()
	t.gate.Close()
}

// Ask has the master tell of the next change of a key. A master that takes nothing has patience to.
func (t *Tracking) Ask(key string, patience time.Duration) error {
	call := []string{"PTTL", key}
	if key == "" {
		call = []string{"PING"}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = append(t.asked, key)
	t.gate.conn.SetWriteDeadline(time.Now().Add(patience))
	return t.gate.send(call)
}

// Wait waits until there is something to read. A master that says nothing for as long as silence is asked whether it is
// still there, and has patience to say so; that it has not is an error.
func (t *Tracking) Wait(silence, patience time.Duration) error {
	t.gate.conn.SetReadDeadline(time.Now().Add(silence))
	_, err := t.gate.r.Peek(1)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if err := t.Ask("", patience); err != nil {
		return err
	}
	t.gate.conn.SetReadDeadline(time.Now().Add(patience))
	_, err = t.gate.r.Peek(1)
	return err
}

// Next reads what the master says, which has to be there within patience, and returns the keys that have changed, or are
// not there when they are asked for. All is that any may have changed.
func (t *Tracking) Next(patience time.Duration) (keys []string, all bool, err error) {
	t.gate.conn.SetReadDeadline(time.Now().Add(patience))
	first, err := t.gate.r.Peek(1)
	if err != nil {
		return nil, false, err
	}
	pushed := first[0] == '>'
	a, err := t.gate.read(3)
	switch {
	case err != nil:
		return nil, false, err
	case !pushed:
		return t.answered(a.Kind == quorum.IntegerReply && a.Int == -2)
	case len(a.Elems) != 2 || a.Elems[0].Str != "invalidate":
		return nil, false, nil
	case a.Elems[1].Kind == quorum.NilReply: // a flush
		return nil, true, nil
	}
	for _, key := range a.Elems[1].Elems {
		keys = append(keys, key.Str)
	}
	return keys, false, nil
}

// answered takes the key out that was asked for first, and tells of it if it is absent.
func (t *Tracking) answered(absent bool) (keys []string, all bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asked) == 0 {
		return nil, false, ErrGarbage
	}
	if absent {
		keys = t.asked[:1:1]
	}
	t.asked = t.asked[1:]
	return keys, false, nil
}
