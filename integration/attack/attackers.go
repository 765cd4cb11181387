package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redlock-proxy/integration"
)

// attackers are what processes of this program do, by their names.
var attackers = map[string]func(*assault) error{
	"pipeline":    func(a *assault) error { return a.pipeline(1) },
	"pipelines":   func(a *assault) error { return a.pipeline(4) },
	"resets":      (*assault).resets,
	"docs":        (*assault).docs,
	"long":        (*assault).long,
	"diligent":    (*assault).diligent,
	"unfinished":  (*assault).unfinished,
	"deaf":        (*assault).deaf,
	"unread":      (*assault).unread,
	"values":      (*assault).values,
	"collections": (*assault).collections,
	"auth":        (*assault).auth,
	"endless":     (*assault).endless,
	"turncoats":   (*assault).turncoats,
	"collisions":  (*assault).collisions,
	"texts":       (*assault).texts,
}

// flood sends what there is in packets, one after the other and without waiting for
// anything, and reads replies as they come, which are of one line each.
func (a *assault) flood(w *wire, packets [][]byte) error {
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() {
		defer w.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := w.Read(buf)
			if err != nil {
				return
			}
			a.done.Add(int64(bytes.Count(buf[:n], []byte("\n"))))
		}
	})
	a.begun()
	for i := 0; ; i++ {
		if _, err := w.Write(packets[i%len(packets)]); err != nil {
			w.Close()
			return err
		}
	}
}

// pipeline: locks that live for a moment, of keys enough that each is free again when it
// is asked for anew.
func (a *assault) pipeline(clients int) error {
	const packets, each = 400, 250
	made := make([][]byte, packets)
	for p := range made {
		for i := range each {
			made[p] = append(made[p], integration.Encode("SET", fmt.Sprintf("flood:%d", p*each+i), "t", "NX", "PX", "100")...)
		}
	}
	return a.clients(clients, true, func(w *wire, i int) error {
		from := i * packets / clients
		return a.flood(w, made[from:from+packets/clients])
	})
}

// resets: the connections are reset and not closed, so that they are gone at once on both
// sides.
func (a *assault) resets() error {
	const workers, perSecond = 8, 10_000
	var all sync.WaitGroup
	start := time.Now()
	for range workers {
		all.Go(func() {
			for n := 0; !a.isOver(); n++ {
				due := start.Add(time.Duration(n) * workers * time.Second / perSecond)
				if wait := time.Until(due); wait > 0 && !a.pause(wait) {
					return
				}
				conn, err := net.DialTimeout("tcp", a.addr, time.Second)
				if err != nil {
					continue
				}
				_ = conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
				a.done.Add(1)
				a.begun()
			}
		})
	}
	all.Wait()
	return nil
}

func (a *assault) docs() error {
	packet := bytes.Repeat(integration.Encode("COMMAND", "DOCS"), 8)
	return a.clients(20, true, func(w *wire, _ int) error {
		for {
			if _, err := w.Write(packet); err != nil {
				return err
			}
			a.begun()
		}
	})
}

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

func (a *assault) auth() error {
	packet := bytes.Repeat(integration.Encode("AUTH", "wrong"), 100)
	return a.clients(4, false, func(w *wire, _ int) error { return a.flood(w, [][]byte{packet}) })
}

// endless: every answer is to be an error, and to come soon. What has not come when the
// assault is over is known to have taken at least so long.
func (a *assault) endless() error {
	const loop = "while true do end"
	return a.clients(20, true, func(w *wire, i int) error {
		text := loop
		if i%2 == 1 {
			text = "redis.call('set', KEYS[1], 'x') " + loop
		}
		key := fmt.Sprintf("endless:%d", i)
		a.begun()
		for {
			asked := time.Now()
			failure, err := w.do("EVAL", text, "1", key)
			a.answered(failure, err, time.Since(asked))
			if err != nil {
				return err
			}
			a.done.Add(1)
		}
	})
}

// turncoats: scripts that do next to nothing until they are known for that, and have no end
// when many ask for them at once, by connections of which nothing is known.
func (a *assault) turncoats() error {
	const clients, light = 64, 32
	return a.clients(1, true, func(w *wire, _ int) error {
		for n := 0; ; n++ {
			text := fmt.Sprintf("local n = %d.%d while #ARGV > 0 do end return n", a.turn, n)
			for range light {
				if failure, err := w.do("EVAL", text, "0"); err != nil || failure != "" {
					return errors.Join(err, errors.New(failure))
				}
			}
			var all, dialed sync.WaitGroup
			dialed.Add(clients)
			for range clients {
				all.Go(func() {
					stranger, err := a.dial(true)
					dialed.Done()
					if err != nil {
						return
					}
					defer a.hangUp(stranger)
					dialed.Wait()
					asked := time.Now()
					failure, err := stranger.do("EVAL", text, "0", "now")
					a.answered(failure, err, time.Since(asked))
					a.done.Add(1)
				})
			}
			dialed.Wait()
			a.begun()
			all.Wait()
		}
	})
}

// collisions: arguments that are kept in one place, so that each is compared with all before it.
func (a *assault) collisions() error {
	eval := append([]string{"EVAL", "return #ARGV", "0"}, integration.Colliding(1000)...)
	packet := integration.Encode(eval...)
	return a.clients(20, true, func(w *wire, _ int) error {
		a.begun()
		for {
			if _, err := w.Write(packet); err != nil {
				return err
			}
			failure, err := w.skip()
			if err != nil {
				return err
			}
			if failure != "" { // they do not collide so much that it may be
				a.refused(failure)
			}
			a.done.Add(1)
		}
	})
}

// answered notes an answer that is to be an error.
func (a *assault) answered(failure string, err error, after time.Duration) {
	cut := err != nil && !a.isOver() // and not by us
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.Slowest = max(a.tally.Slowest, after)
	switch {
	case cut:
		a.tally.Wrong = addTo(a.tally.Wrong, map[string]int{"the connection's end": 1})
	case err == nil && failure == "":
		a.tally.Wrong = addTo(a.tally.Wrong, map[string]int{"no error": 1})
	case err == nil:
		a.tally.Answers++
	}
}

// texts: the scripts have another number in each turn, too.
func (a *assault) texts() error {
	const clients, each = 2, 10_000
	return a.clients(clients, true, func(w *wire, i int) error {
		a.begun()
		for n := range each {
			text := fmt.Sprintf("local n = %d return redis.call('get', KEYS[1])", (a.turn*clients+i)*each+n)
			failure, err := w.do("EVAL", text, "1", "k")
			if err != nil {
				return err
			}
			if failure != "" {
				a.refused(failure)
			}
			a.done.Add(1)
		}
		<-a.over
		return errOver
	})
}
