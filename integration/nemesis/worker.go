package main

import (
	"fmt"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// worker is one client of locks.
type worker struct {
	caller
	keys     []string
	longest  time.Duration // ttl
	patience time.Duration
	dir      string // of the files that the locks guard
	turns    int
}

func newWorker(o clientOptions, id int, seen *history) labour {
	w := &worker{caller: newCaller(o, id, seen), longest: o.ttl, patience: patience, dir: o.dir}
	for k := range keys {
		w.keys = append(w.keys, fmt.Sprintf("%s-%d", o.name, k))
	}
	if id%processSpan == workers {
		return prober{w}
	}
	return w
}

func (w *worker) settle() {}

// prober is the one client of a process that asks for locks of its own all the time, to
// see how it is served.
type prober struct{ *worker }

func (p prober) turn() error { return p.probe() }

// turn asks for one of the keys and, if it is given, holds it for a while.
func (w *worker) turn() error {
	if !w.connect() {
		return nil
	}
	key := w.keys[w.random.IntN(len(w.keys))]
	ttl := w.longest/8 + w.upTo(w.longest*7/8)
	acquire := w.acquire(key, ttl)
	w.seen.Ops = append(w.seen.Ops, acquire)
	switch acquire.Outcome {
	case lease.Yes:
		h := &hold{worker: w, key: key, token: acquire.Token, ttl: acquire.TTL, until: acquire.Call.After(acquire.TTL)}
		return h.spend()
	case lease.Unknown:
		// What it may have left behind is taken away, or dies by itself.
		if w.random.IntN(2) == 0 && w.connect() {
			w.seen.Ops = append(w.seen.Ops, w.release(key, acquire.Token))
		}
	}
	time.Sleep(w.upTo(25 * time.Millisecond))
	return nil
}

// probe takes and gives back a lock that nobody else wants.
func (w *worker) probe() error {
	time.Sleep(5 * time.Millisecond)
	if !w.connect() {
		return nil
	}
	// The key is in the token.
	key := fmt.Sprintf("%s-probe-%d-%d", w.keys[0], w.id, w.turns)
	acquire := w.acquire(key, time.Second)
	w.seen.Probes = append(w.seen.Probes, acquire)
	if acquire.Outcome == lease.Yes && w.connect() {
		w.seen.Probes = append(w.seen.Probes, w.release(key, acquire.Token))
	}
	return nil
}

func (w *worker) acquire(key string, ttl time.Duration) lease.Op {
	w.turns++
	token := fmt.Sprintf("%s.%d.%d", key, w.id, w.turns)
	op := lease.Op{Key: key, Token: token, Kind: lease.Acquire, TTL: ttl}
	return w.ask(op, mannerOf(key).acquire(key, token, milliseconds(ttl)))
}

func (w *worker) extend(key, token string, ttl time.Duration) lease.Op {
	op := lease.Op{Key: key, Token: token, Kind: lease.Extend, TTL: ttl}
	return w.ask(op, mannerOf(key).extend(key, token, milliseconds(ttl)))
}

func (w *worker) read(key, token string) lease.Op {
	return w.ask(lease.Op{Key: key, Token: token, Kind: lease.Read}, mannerOf(key).read(key, token))
}

func (w *worker) release(key, token string) lease.Op {
	return w.ask(lease.Op{Key: key, Token: token, Kind: lease.Release}, mannerOf(key).release(key, token))
}

// ask puts one command to the proxy, in the database of its key, and tells what came of
// it. Ttls are whole milliseconds on the wire, so op's is cut to that.
func (w *worker) ask(op lease.Op, args []string) lease.Op {
	op.Client, op.Proxy = w.id, w.proxy()
	op.TTL = op.TTL.Truncate(time.Millisecond)
	op.Call = now()
	reply, err := w.selected(mannerOf(op.Key).db, args)
	op.Return = now()
	if err != nil {
		w.hangUp()
		op.Outcome, op.Heard = lease.Unknown, lostConnection
		return op
	}
	op.Outcome = outcome(op, reply)
	if op.Outcome == lease.Unknown {
		op.Heard = fmt.Sprint(reply)
	}
	return op
}

// selected asks in a database. What a SELECT is refused with is the answer.
func (w *worker) selected(db int, args []string) (reply any, err error) {
	if w.db != db {
		if reply, err = w.say("SELECT", databases[db]); err != nil || reply != "OK" {
			return reply, err
		}
		w.db = db
	}
	return w.sayWithin(w.patience, args...)
}

// lostConnection is what a client heard that heard nothing.
const lostConnection = "connection lost"

func outcome(op lease.Op, reply any) lease.Outcome {
	switch r := reply.(type) {
	case nil: // not set, or nothing there
		return lease.No
	case int64:
		if r == 1 {
			return lease.Yes
		}
		return lease.No
	case string:
		if op.Kind == lease.Acquire && r == "OK" || op.Kind == lease.Read && r == op.Token {
			return lease.Yes
		}
		return lease.No
	}
	return lease.Unknown
}
