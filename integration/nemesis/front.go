package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// front is the one address by which all proxies know a master: proxies of one
// set must name their masters alike. Behind it every proxy has a link of its
// own, so that a master may be out of reach for one and not for the other. Who
// connects is known by the user that it says it is in its first words.
type front struct {
	addr     string
	listener net.Listener
	links    []*link // by proxy
	wg       sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	conns  map[net.Conn]struct{}
}

// user is the name and password of the i-th proxy at every master.
func user(i int) string { return fmt.Sprintf("proxy%d", i) }

// userArgs are redis-server's, for so many proxies.
func userArgs(proxies int) []string {
	var args []string
	for i := range proxies {
		args = append(args, "--user", user(i), "on", ">"+user(i), "~*", "&*", "+@all")
	}
	return args
}

func newFront(to string, proxies int) (*front, error) {
	f := &front{conns: make(map[net.Conn]struct{})}
	for range proxies {
		l, err := newLink(to)
		if err != nil {
			f.closeLinks()
			return nil, err
		}
		f.links = append(f.links, l)
	}
	var err error
	if f.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		f.closeLinks()
		return nil, err
	}
	f.addr = f.listener.Addr().String()
	f.wg.Go(f.accept)
	return f, nil
}

// close ends everything and waits for it.
func (f *front) close() error {
	f.mu.Lock()
	f.closed = true
	for c := range f.conns {
		c.Close()
	}
	f.mu.Unlock()
	err := f.listener.Close()
	f.wg.Wait()
	f.closeLinks()
	return err
}

func (f *front) closeLinks() {
	for _, l := range f.links {
		l.close()
	}
}

func (f *front) accept() {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() {
			defer client.Close()
			if !f.enter(client) {
				return
			}
			defer f.leave(client)
			f.pass(client)
		})
	}
}

// pass finds the link of whoever is there and lets both talk over it.
func (f *front) pass(client net.Conn) {
	first := make([]byte, 4096)
	n, err := client.Read(first)
	first = first[:n]
	l := f.linkOf(first)
	if err != nil || l == nil {
		return
	}
	server, err := net.DialTimeout("tcp", l.addr, time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	if !f.enter(server) {
		return
	}
	defer f.leave(server)
	if _, err := server.Write(first); err != nil {
		return
	}
	back := make(chan struct{})
	f.wg.Go(func() {
		defer close(back)
		// What the client still sends when the server is gone has no reader.
		_, _ = io.Copy(client, server)
		client.Close()
	})
	_, _ = io.Copy(server, client)
	_ = server.(*net.TCPConn).CloseWrite()
	<-back
}

// linkOf is nil if none of the proxies begins like this.
func (f *front) linkOf(first []byte) *link {
	for i, l := range f.links {
		if bytes.Contains(first, fmt.Appendf(nil, "\r\n%s\r\n", user(i))) {
			return l
		}
	}
	return nil
}

// enter is false if the front is closed.
func (f *front) enter(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.conns[c] = struct{}{}
	}
	return !f.closed
}

func (f *front) leave(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}
