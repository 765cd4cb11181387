package main

import (
	"fmt"
	"strconv"
	"time"

	"redlock-proxy/integration"
	"redlock-proxy/integration/nemesis/cached"
	"redlock-proxy/integration/nemesis/lease"
)

// A process of caches has so many clients who write, each keys of its own, and who keep what
// they read; and one at each of two proxies by which is known when there was a service.
const (
	writers = 3
	keepers = 5
)

// writtenFor is how long a key is written to: then comes the next. Where it is not known
// whether something was written, it is left alone until then.
const writtenFor = 2 * time.Second

// keeper is a client that keeps what it reads until it is told that it has changed.
type keeper struct {
	caller
	name    string
	options []string // of CLIENT TRACKING
	kept    map[string]int
}

// trackings are the ways in which clients ask to be told.
var trackings = [][]string{nil, {"OPTIN"}, {"BCAST"}, {"NOLOOP"}, nil}

func newCacher(o clientOptions, id int, seen *history) labour {
	n := id % processSpan
	switch {
	case n < writers:
		beside := &keeper{caller: newCaller(o, id, seen), name: o.name, kept: make(map[string]int)}
		return &writer{caller: newCaller(o, id, seen), beside: beside, name: o.name, which: n}
	case n < writers+keepers:
		k := &keeper{caller: newCaller(o, id, seen), name: o.name, options: trackings[n-writers], kept: make(map[string]int)}
		if len(k.options) > 0 && k.options[0] == "BCAST" {
			k.options = append(k.options, "PREFIX", o.name)
		}
		return k
	}
	return newSlowProber(o, id, seen)
}

// written is the n-th key of a writer.
func written(name string, writer int, n int64) string {
	return fmt.Sprintf("%s-cache-%d-%d", name, writer, n)
}

func thisKey() int64 { return int64(now()) / int64(writtenFor) }

func (k *keeper) turn() error {
	time.Sleep(k.upTo(10 * time.Millisecond))
	if !k.track() {
		return nil
	}
	key := written(k.name, k.random.IntN(writers), thisKey()-k.random.Int64N(2))
	if k.random.IntN(50) == 0 {
		delete(k.kept, key) // as for want of room
	}
	if _, kept := k.kept[key]; kept {
		k.look(key)
	} else {
		k.read(key)
	}
	return nil
}

// track connects and asks to be told.
func (k *keeper) track() bool {
	if k.talk != nil {
		return true
	}
	if !k.connect() {
		return false
	}
	for _, args := range [][]string{{"HELLO", "3"}, append([]string{"CLIENT", "TRACKING", "ON"}, k.options...)} {
		reply, err := k.told(args...)
		if _, refused := reply.(integration.Failure); refused || err != nil {
			k.hangUp()
			time.Sleep(10 * time.Millisecond)
			return false
		}
	}
	return true
}

// told puts a command and gives its answer, and heeds what comes before that.
func (k *keeper) told(args ...string) (any, error) {
	reply, err := k.say(args...)
	for err == nil {
		push, is := reply.([]any)
		if !is {
			return reply, nil
		}
		k.heed(push)
		reply, err = k.talk.ReceiveWithin(patience)
	}
	return nil, err
}

// heed lets go of what is no longer so. No keys are all keys.
func (k *keeper) heed(push []any) {
	if len(push) != 2 || push[0] != "invalidate" {
		return
	}
	keys, some := push[1].([]any)
	if !some {
		clear(k.kept)
	}
	for _, key := range keys {
		delete(k.kept, fmt.Sprint(key))
	}
}

// look sees whether something is still kept when the client has heard all that it was told.
func (k *keeper) look(key string) {
	op := cached.Op{Client: k.id, Proxy: k.proxy(), Key: key, Kind: cached.Look, Number: k.kept[key], Call: now()}
	if _, err := k.told("PING"); err != nil {
		k.hangUp()
		return
	}
	op.Return = now()
	if _, kept := k.kept[key]; kept {
		op.Outcome = lease.Yes
		k.seen.Cached = append(k.seen.Cached, op)
	}
}

func (k *keeper) hangUp() {
	k.caller.hangUp()
	k.kept = make(map[string]int)
}

func (k *keeper) read(key string) {
	if len(k.options) > 0 && k.options[0] == "OPTIN" {
		if _, err := k.told("CLIENT", "CACHING", "YES"); err != nil {
			k.hangUp()
			return
		}
	}
	op := cached.Op{Client: k.id, Proxy: k.proxy(), Key: key, Kind: cached.Read, Call: now()}
	reply, err := k.told("GET", key)
	op.Return = now()
	if err != nil {
		k.hangUp()
		op.Outcome, op.Heard = lease.Unknown, lostConnection
	} else if op.Number, op.Outcome, op.Heard = numbered(reply); op.Outcome == lease.Yes {
		k.kept[key] = op.Number
	}
	k.seen.Cached = append(k.seen.Cached, op)
}

// goesOn is how long clients write and read on when all is well again.
const goesOn = time.Second

// settle sees what is kept when all is quiet, and what the masters hold then.
func (k *keeper) settle() {
	for end := now().After(goesOn); now() < end; {
		_ = k.turn() // it fails never
	}
	k.quiet()
}

func (k *keeper) quiet() {
	time.Sleep(notice) // some keys end, and the last changes are told
	if k.talk == nil {
		return
	}
	if _, err := k.told("PING"); err != nil {
		return
	}
	asker := caller{id: k.id, proxies: k.proxies, random: k.random, tried: k.tried - 1}
	defer asker.hangUp()
	for key, number := range k.kept {
		if !asker.connect() {
			return
		}
		op := cached.Op{Client: k.id, Proxy: k.proxy(), Key: key, Kind: cached.Quiet, Number: number, Call: now()}
		reply, err := asker.say("GET", key)
		if err != nil {
			return
		}
		op.Return = now()
		op.Is, op.Outcome, op.Heard = numbered(reply)
		k.seen.Cached = append(k.seen.Cached, op)
	}
}

// numbered is the number that an answer tells.
func numbered(reply any) (number int, outcome lease.Outcome, heard string) {
	switch r := reply.(type) {
	case nil:
		return cached.Absent, lease.Yes, ""
	case string:
		if n, err := strconv.Atoi(r); err == nil {
			return n, lease.Yes, ""
		}
	}
	return 0, lease.Unknown, fmt.Sprint(reply)
}
