package main

import (
	"net"
	"sync"
	"time"
)

// delayLine stands before a server that is to seem far away: what is sent to
// it arrives a round trip later, however much is on its way at once, and the
// replies come back at once. So one sleep is made for a round trip and not two.
type delayLine struct {
	addr string

	target string
	delay  time.Duration
	l      net.Listener
	wg     sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	conns  []net.Conn
}

// inTransit bounds the pieces on their way in one connection. A sender that is
// ahead of that waits, as one whose window is full.
const inTransit = 4096

// piece is bytes that arrive at a time.
type piece struct {
	at    time.Time
	bytes []byte
}

func newDelayLine(target string, delay time.Duration) (*delayLine, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &delayLine{addr: l.Addr().String(), target: target, delay: delay, l: l}
	d.wg.Go(d.accept)
	return d, nil
}

// close ends everything and waits for it.
func (d *delayLine) close() error {
	err := d.l.Close()
	d.mu.Lock()
	d.closed = true
	for _, c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
	return err
}

func (d *delayLine) accept() {
	for {
		client, err := d.l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", d.target)
		if err != nil {
			client.Close()
			continue
		}
		if !d.keep(client, server) {
			return
		}
		pieces := make(chan piece, inTransit)
		d.wg.Go(func() { d.read(client, pieces) })
		d.wg.Go(func() { deliver(server, pieces) })
		d.wg.Go(func() { giveBack(client, server) })
	}
}

func (d *delayLine) keep(conns ...net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		for _, c := range conns {
			c.Close()
		}
		return false
	}
	d.conns = append(d.conns, conns...)
	return true
}

func (d *delayLine) read(client net.Conn, pieces chan<- piece) {
	defer close(pieces)
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if n > 0 {
			pieces <- piece{time.Now().Add(d.delay), append([]byte(nil), buf[:n]...)}
		}
		if err != nil {
			return
		}
	}
}

// deliver sends on what has been on its way long enough. A server that is gone
// is no reason to stop taking: the reader must not be held up for ever.
func deliver(server net.Conn, pieces <-chan piece) {
	for p := range pieces {
		if left := time.Until(p.at); left > 0 {
			pause(left)
		}
		_, _ = server.Write(p.bytes)
	}
	server.Close()
}

func giveBack(client, server net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if n > 0 {
			_, _ = client.Write(buf[:n])
		}
		if err != nil {
			client.Close()
			return
		}
	}
}
