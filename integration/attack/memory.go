package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"redlock-proxy/integration"
)

// long: the name is short, so that a command of 8 KiB holds a thousand of it, which is
// as many as the proxy takes.
func (a *assault) long() error {
	mget := []string{"MGET"}
	for range 1020 {
		mget = append(mget, "vv")
	}
	return a.clients(1, true, func(w *wire, _ int) error {
		if failure, err := w.do("SET", "vv", strings.Repeat("x", 1<<20)); err != nil || failure != "" {
			return errors.Join(err, errors.New(failure))
		}
		a.begun()
		for {
			failure, err := w.do(mget...)
			if err != nil {
				return err
			}
			if failure != "" {
				a.refused(failure)
			}
			a.done.Add(1)
		}
	})
}

// diligent asks for much, reads all of it, and harms nobody.
func (a *assault) diligent() error {
	const values, gets = 30, 900
	var packet []byte
	for i := range gets {
		packet = append(packet, integration.Encode("GET", fmt.Sprintf("diligent:%d", i%values))...)
	}
	return a.clients(1, true, func(w *wire, _ int) error {
		for i := range values {
			failure, err := w.do("SET", fmt.Sprintf("diligent:%d", i), strings.Repeat("x", 100<<10))
			if err != nil || failure != "" {
				return errors.Join(err, errors.New(failure))
			}
		}
		a.begun()
		for {
			if _, err := w.Write(packet); err != nil {
				return err
			}
			for range gets {
				failure, err := w.skip()
				if err != nil {
					return err
				}
				if failure != "" {
					a.refused(failure)
				}
			}
		}
	})
}

// collections: what Redis itself does of all members, and what the proxy has to know of a key
// before it is written to.
func (a *assault) collections() error {
	const clients, members, each = 4, 20_000, 500
	commands := func(key string) [][]string {
		return [][]string{
			{"SMEMBERS", key}, {"WATCH", key}, {"MULTI"}, {"PEXPIRE", key, "600000"}, {"SADD", key, "another"}, {"SREM", key, "another"}, {"EXEC"},
			{"PEXPIRE", key, "600000"}, {"SADD", key, "another"}, {"SREM", key, "another"},
			{"EVAL", "return #redis.call('SMEMBERS', KEYS[1])", "1", key}, {"EVAL", "return redis.call('SADD', KEYS[1], 'another')", "1", key},
		}
	}
	return a.clients(clients, true, func(w *wire, i int) error {
		key := fmt.Sprintf("collection:%d", i)
		for at := 0; at < members; at += each {
			sadd := []string{"SADD", key}
			for m := range each {
				sadd = append(sadd, fmt.Sprintf("member:%d", at+m))
			}
			if failure, err := w.do(sadd...); err != nil || failure != "" {
				return errors.Join(err, errors.New(failure))
			}
		}
		a.begun()
		for {
			for _, args := range commands(key) {
				if _, err := w.do(args...); err != nil { // what is too large is refused
					return err
				}
				a.done.Add(1)
			}
		}
	})
}

// unfinished: all but the last byte of an argument, and nothing more.
func (a *assault) unfinished() error {
	const clients, size = 500, 1 << 20
	packet := fmt.Appendf(nil, "*2\r\n$4\r\nECHO\r\n$%d\r\n%s", size, strings.Repeat("x", size-1))
	var missing atomic.Int64
	missing.Store(clients)
	return a.clients(clients, true, func(w *wire, _ int) error {
		_, err := w.Write(packet)
		a.done.Add(1)
		if missing.Add(-1) == 0 { // those that were cut off count as well
			a.begun()
		}
		if err == nil {
			_, err = w.r.ReadByte()
		}
		return err
	})
}

// deaf: whoever is cut off finds out by saying nothing, which Redis takes for what it is.
func (a *assault) deaf() error {
	const subscribers = 20
	var missing atomic.Int64
	missing.Store(subscribers + 1)
	ready := func() {
		if missing.Add(-1) == 0 {
			a.begun()
		}
	}
	message := strings.Repeat("x", 64<<10)
	return a.clients(subscribers+1, true, func(w *wire, i int) error {
		if i < subscribers {
			_, err := w.do("SUBSCRIBE", "channel")
			ready()
			for err == nil && a.pause(20*time.Millisecond) {
				_, err = w.Write([]byte("\r\n"))
			}
			return err
		}
		ready()
		for {
			failure, err := w.do("PUBLISH", "channel", message)
			if err != nil {
				return err
			}
			if failure != "" {
				a.refused(failure)
			}
			a.done.Add(1)
		}
	})
}

// unread: each connection asks for a value of its own, again and again, and reads nothing; as it
// is cut off for that, or waits, others come.
func (a *assault) unread() error {
	const clients, size = 20, 1 << 20
	return a.clients(clients, true, func(w *wire, i int) error {
		key := fmt.Sprintf("unread:%d", i)
		if failure, err := w.do("SET", key, strings.Repeat("x", size)); err != nil || failure != "" {
			return errors.Join(err, errors.New(failure))
		}
		packet := bytes.Repeat(integration.Encode("GET", key), 64)
		a.begun()
		for {
			if _, err := w.Write(packet); err != nil {
				return err
			}
			a.done.Add(64)
		}
	})
}

// values: long ones are put without waiting for anything, each over the one before.
func (a *assault) values() error {
	const clients, size = 4, 1 << 20
	return a.clients(clients, true, func(w *wire, i int) error {
		put := integration.Encode("SET", fmt.Sprintf("values:%d", i), strings.Repeat("x", size), "PX", "10000")
		return a.flood(w, [][]byte{put})
	})
}
