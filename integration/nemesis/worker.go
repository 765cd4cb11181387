package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/integration/nemesis/lease"
)

// patience is how long a client waits for an answer before it hangs up and
// does not know. A proxy has answered long before, unless it is frozen.
const patience = time.Second

// worker is one client: it asks one thing at a time, and writes down what it
// asked, what it heard, and when.
type worker struct {
	id      int
	proxies []string
	keys    []string
	longest time.Duration // ttl
	dir     string
	random  *rand.Rand
	seen    *history

	talk  *integration.Client // nil: not connected
	db    int                 // that talk has selected, by its place in databases
	tried int                 // proxies, one after the other
	turns int
}

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
	op.Client = w.id
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
	return w.say(args...)
}

func (w *worker) say(args ...string) (reply any, err error) {
	if err := w.talk.Send(args...); err != nil {
		return nil, err
	}
	return w.talk.ReceiveWithin(patience)
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

// connect takes the next proxy, if there is no connection: clients spread over
// them, and whoever has lost one tries another. It is false, after a moment, if
// that one does not listen.
func (w *worker) connect() bool {
	if w.talk != nil {
		return true
	}
	w.tried++
	talk, err := integration.Dial(w.proxies[(w.id+w.tried)%len(w.proxies)])
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return false
	}
	w.talk, w.db = talk, 0
	return true
}

func (w *worker) hangUp() {
	if w.talk != nil {
		w.talk.Close()
		w.talk = nil
	}
}

func (w *worker) upTo(d time.Duration) time.Duration { return time.Duration(w.random.Int64N(int64(d))) }

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
