package main

import (
	"bytes"
	"fmt"
	"net"
	"sync"
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

func (a *assault) auth() error {
	packet := bytes.Repeat(integration.Encode("AUTH", "wrong"), 100)
	return a.clients(4, false, func(w *wire, _ int) error { return a.flood(w, [][]byte{packet}) })
}
