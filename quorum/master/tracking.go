package master

import (
	"context"
	"strconv"
	"sync"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// Tracking is a connection of its own to one master, on which that tells once of each key that was asked for on it when
// it changes, by whomever: what Redis has for the caches of its clients, in its default mode and RESP3. It tells of keys
// by their names, whatever the database.
type Tracking struct {
	ear
	all bool // it tells of every key, each time

	mu    sync.Mutex // guards what follows, and what is sent
	db    int        // that is selected
	asked []string   // keys that are not answered yet, in their order; "" is what is no key
	tells int        // how often it may tell of a change yet: once for each time that it was asked
}

// Told is what a master says at once.
type Told struct {
	Changed []string // keys; "" is that any may have
	Watched string   // a key that it tells of from now on, "" if that is none
	Absent  bool     // it is not there
}

// Track has the master tell of changes: of keys that it is asked for, or of all. All that is bounded by dialing; the connection ends with life, and is the
// caller's to close. A Refusal is that the master does not do it.
func (m *Master) Track(dialing, life context.Context, all bool) (*Tracking, error) {
	t := &Tracking{all: all}
	if err := t.open(m, dialing, life, LongestTracked, t.begin); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tracking) begin() error {
	t.gate.nils, t.gate.pushes, t.gate.most = true, true, mostTold
	on := []string{"CLIENT", "TRACKING", "ON"}
	if t.all {
		on = append(on, "BCAST")
	}
	answers, err := t.gate.Ask([]string{"HELLO", "3"}, on)
	if err != nil {
		return err
	}
	for _, a := range answers {
		if a.Err() != nil {
			return Refusal(a.Str)
		}
	}
	return nil
}

const (
	// LongestTracked is how long the name of a key may be that a master tells of: many of them are held here and there.
	LongestTracked = 4 << 10

	// mostTold is how much a master may say at once. It tells of one key after the other, or of those of one moment.
	mostTold = 1 << 20

	// mostUnasked is how often a master may tell of what it was not asked for, or of a flush.
	mostUnasked = 1000

	// askedAtOnce is how many answers a master may owe.
	askedAtOnce = 16 << 10
)

// Ask has the master tell of the next change of a key, unless it owes too many answers by now. A master that takes
// nothing has patience to.
func (t *Tracking) Ask(db int, key string, patience time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asked) >= askedAtOnce {
		return nil
	}
	t.gate.conn.SetWriteDeadline(time.Now().Add(patience))
	if db != t.db {
		t.db = db
		if err := t.send("", "SELECT", strconv.Itoa(db)); err != nil {
			return err
		}
	}
	t.tells++
	return t.send(key, "PTTL", key)
}

// send sends a call about a key. mu is held.
func (t *Tracking) send(key string, call ...string) error {
	t.asked = append(t.asked, key)
	return t.gate.send(call)
}

// Wait waits until there is something to read. A master that says nothing for as long as silence is asked whether it is
// still there, and has patience to say so; that it has not is an error.
func (t *Tracking) Wait(silence, patience time.Duration) error {
	return t.wait(silence, patience, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		if len(t.asked) > 2*askedAtOnce { // it says something now and then, and answers nothing
			return ErrGarbage
		}
		return t.send("", "PING")
	})
}

// Next reads what the master says, which has to be there within patience.
func (t *Tracking) Next(patience time.Duration) (told Told, err error) {
	t.gate.conn.SetReadDeadline(time.Now().Add(patience))
	t.gate.most = mostTold
	first, err := t.gate.r.Peek(1)
	if err != nil {
		return told, err
	}
	pushed := first[0] == '>'
	a, err := t.gate.read(gateDepth)
	switch {
	case err != nil:
		return told, err
	case !pushed:
		return t.answered(&a)
	case len(a.Elems) != 2 || a.Elems[0].Str != "invalidate":
		return told, nil
	case a.Elems[1].Kind == quorum.NilReply: // a flush
		told.Changed = []string{""}
	}
	for _, key := range a.Elems[1].Elems {
		told.Changed = append(told.Changed, key.Str)
	}
	return told, t.tell(len(told.Changed))
}

// tell counts how often it is told of a change. A server that was not asked so often, and has not been flushed as often,
// tells without end.
func (t *Tracking) tell(n int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all {
		return nil
	}
	if t.tells -= n; t.tells < -mostUnasked {
		return ErrGarbage
	}
	return nil
}

// answered takes the key out that was asked for first.
func (t *Tracking) answered(a *decide.Answer) (told Told, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asked) == 0 {
		return told, ErrGarbage
	}
	if a.Kind == quorum.IntegerReply {
		told.Watched, told.Absent = t.asked[0], a.Int == -2
	}
	t.asked = t.asked[1:]
	return told, nil
}
