package main

import (
	"strconv"
	"time"

	"redlock-proxy/integration/nemesis/cached"
	"redlock-proxy/integration/nemesis/lease"
)

// writer is a client that writes numbers that grow to one key after the other. Beside it is
// one that keeps what is written, at the same proxy, and looks as soon as it was.
type writer struct {
	caller
	beside *keeper
	name   string
	which  int
	key    int64 // that it writes
	number int
	lost   bool // nobody knows what the key is
}

func (w *writer) turn() error {
	time.Sleep(w.upTo(50 * time.Millisecond))
	if !w.connect() {
		return nil
	}
	if n := thisKey(); n != w.key {
		if w.key != 0 && !w.lost {
			w.end()
		}
		w.key, w.number, w.lost = n, 0, false
	}
	if !w.lost && w.connect() {
		w.write(false, "SET", written(w.name, w.which, w.key), strconv.Itoa(w.number+1))
	}
	return nil
}

// end has the key that it has written be gone, at once or soon, or stay.
func (w *writer) end() {
	key := written(w.name, w.which, w.key)
	switch w.random.IntN(3) {
	case 0:
		w.write(true, "DEL", key)
	case 1:
		w.write(true, "SET", key, strconv.Itoa(w.number+1), "PX", "300")
	}
}

func (w *writer) write(ends bool, args ...string) {
	w.before(args[1])
	w.number++
	op := cached.Op{Client: w.id, Proxy: w.proxy(), Key: args[1], Kind: cached.Write, Number: w.number, Ends: ends, Call: now()}
	reply, err := w.say(args...)
	op.Return, op.Outcome = now(), lease.Yes
	_, deleted := reply.(int64)
	switch {
	case err != nil:
		w.caller.hangUp()
		op.Outcome, op.Heard = lease.Unknown, lostConnection
	case reply != "OK" && !deleted:
		_, op.Outcome, op.Heard = numbered(reply)
	}
	w.lost = op.Outcome != lease.Yes
	w.seen.Cached = append(w.seen.Cached, op)
	if _, kept := w.beside.kept[op.Key]; kept && !w.lost {
		w.beside.look(op.Key)
	}
}

// before has the other one keep what the key is.
func (w *writer) before(key string) {
	if w.beside.proxy() != w.proxy() {
		w.beside.hangUp()
		w.beside.tried = w.tried - 1
	}
	if !w.beside.track() {
		return
	}
	if _, kept := w.beside.kept[key]; !kept {
		w.beside.read(key)
	}
}

func (w *writer) settle() {
	for end := now().After(goesOn); now() < end; {
		_ = w.turn() // it fails never
	}
	w.beside.quiet()
}

func (w *writer) hangUp() {
	w.caller.hangUp()
	w.beside.hangUp()
}
