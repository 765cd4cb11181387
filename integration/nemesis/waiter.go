package main

import (
	"fmt"
	"time"

	"redlock-proxy/integration/nemesis/lease"
)

// Some proxies, which nobody else uses, have an acquire wait. So many clients, in a
// process of their own, wait for locks there, and one at each asks for locks of its own
// all the time, by which is known when there was a service.
const (
	waitingProxies = 2
	waiters        = 10
)

// acquireWait is how long an acquire waits there.
const acquireWait = 3 * time.Second

// waiter is a client that waits for a lock, and has it for a moment. Each lock is wanted by
// two, at different proxies as long as none fails, so that who frees it is not who serves
// the next; and one of them by more.
type waiter struct {
	*worker
	key   string
	short bool // of its ttl
}

const waitedFor = 4

// Of one lock all ttls are short, and some holders let it die; of the other they are long,
// so that nobody finds it free by the end of one.
const (
	shortHold = 600 * time.Millisecond
	longHold  = 4 * time.Second
)

func newWaiter(o clientOptions, id int, seen *history) labour {
	if id%processSpan >= waiters {
		return newSlowProber(o, id, seen)
	}
	w := &worker{caller: newCaller(o, id, seen), longest: shortHold, patience: patience + acquireWait}
	n := id % processSpan / 2 % waitedFor
	// An even number, so that it is a string: by a script nobody waits.
	return waiter{worker: w, key: fmt.Sprintf("%s-wait-%d", o.name, 2*n), short: n%2 == 0}
}

// slowProber is one that asks seldom enough to leave the machine to others.
type slowProber struct{ *worker }

func newSlowProber(o clientOptions, id int, seen *history) labour {
	w := &worker{caller: newCaller(o, id, seen), keys: []string{o.name}, patience: patience}
	w.pinned = true
	return slowProber{w}
}

func (p slowProber) turn() error {
	time.Sleep(25 * time.Millisecond)
	return p.probe()
}

func (w waiter) turn() error {
	if !w.connect() {
		return nil
	}
	ttl := longHold
	if w.short {
		ttl = shortHold/4 + w.upTo(shortHold*3/4)
	}
	acquire := w.acquire(w.key, ttl)
	w.seen.Waits = append(w.seen.Waits, acquire)
	if acquire.Outcome != lease.Yes {
		time.Sleep(w.upTo(25 * time.Millisecond))
		return nil
	}
	if w.short && w.random.IntN(5) == 0 {
		return nil // it dies with its ttl
	}
	time.Sleep(w.upTo(min(ttl, shortHold) / 2))
	if w.connect() {
		w.seen.Waits = append(w.seen.Waits, w.release(acquire.Key, acquire.Token))
	}
	if w.random.IntN(3) == 0 {
		// Whoever else wants it has time to have it, or to be seen asleep.
		time.Sleep(sleepAtMost + w.upTo(shortHold))
	}
	return nil
}

// sleepAtMost is how long somebody may wait for a lock that is free: a second, after which
// he is tried though no master has told, and what that takes.
const sleepAtMost = 1500 * time.Millisecond
