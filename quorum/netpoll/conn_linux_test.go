package netpoll

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// pair is a connection that was taken, and the other side of it.
func pair(t *testing.T) (c *Conn, other net.Conn) {
	t.Helper()
	ln, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	other, err = net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	taken, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c, ok := Take(taken)
	if !ok {
		t.Fatal("it is not taken")
	}
	t.Cleanup(func() { c.Close(); other.Close() })
	return c, other
}

func expectKnown(t *testing.T, c *Conn, want bool) {
	t.Helper()
	if got := c.known.Load() != nil; got != want {
		t.Errorf("known to Go's poller: %v, want %v", got, want)
	}
}

func expectRead(t *testing.T, c *Conn, want string) {
	t.Helper()
	p := make([]byte, len(want)+1)
	if n, err := c.Read(p); err != nil || string(p[:n]) != want {
		t.Fatalf("read %q, %v; want %q", p[:n], err, want)
	}
}

func TestThePollerKnowsWhereSomebodyWaits(t *testing.T) {
	c, other := pair(t)
	for range 2 {
		other.Write([]byte("come"))
		expectRead(t, c, "come")
		c.Write([]byte("gone"))
		expectKnown(t, c, false)

		time.AfterFunc(10*time.Millisecond, func() { other.Write([]byte("late")) })
		expectRead(t, c, "late")
		expectKnown(t, c, true)

		c.Forget()
		expectKnown(t, c, false)
	}
	got := make([]byte, 8)
	if _, err := io.ReadFull(other, got); err != nil || string(got) != "gonegone" {
		t.Fatalf("%q, %v was written", got, err)
	}
}

func TestAnEpollGoesOnWhereThePollerForgets(t *testing.T) {
	c, other := pair(t)
	epoll, err := syscall.EpollCreate1(0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(epoll)
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	c.Read(make([]byte, 1))
	expectKnown(t, c, true)
	if err := syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, c.FD(), &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: 7}); err != nil {
		t.Fatal(err)
	}
	c.Forget()
	other.Write([]byte("x"))
	var events [2]syscall.EpollEvent
	if n, err := syscall.EpollWait(epoll, events[:], 10_000); n != 1 || err != nil || events[0].Fd != 7 {
		t.Fatalf("%d events, %v, of %d", n, err, events[0].Fd)
	}
	c.Close()
	if n, err := syscall.EpollWait(epoll, events[:], 0); n != 0 || err != nil {
		t.Fatalf("%d events, %v of what is closed", n, err)
	}
}

func TestDeadlines(t *testing.T) {
	past := time.Unix(1, 0)
	for name, set := range map[string]func(c *Conn){
		"before anybody waits": func(c *Conn) { c.SetDeadline(past) },
		"to read and to write": func(c *Conn) { c.SetReadDeadline(past); c.SetWriteDeadline(past) },
		"after it was known": func(c *Conn) {
			c.SetReadDeadline(time.Now().Add(time.Millisecond))
			c.Read(make([]byte, 1))
			c.SetDeadline(past)
		},
		"before it was forgotten": func(c *Conn) {
			c.SetReadDeadline(time.Now().Add(time.Millisecond))
			c.Read(make([]byte, 1))
			c.SetDeadline(past)
			c.Forget()
		},
		"while somebody waits": func(c *Conn) { time.AfterFunc(10*time.Millisecond, func() { c.SetDeadline(past) }) },
	} {
		t.Run(name, func(t *testing.T) {
			c, other := pair(t)
			set(c)
			if name != "while somebody waits" {
				other.Write([]byte("x")) // as with package net, what has come is not read any more
			}
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("reads: %v", err)
			}
			if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("writes: %v", err)
			}
			c.SetDeadline(time.Time{})
			if name == "while somebody waits" {
				other.Write([]byte("x"))
			}
			expectRead(t, c, "x")
		})
	}
}

func TestWritesAllWhereTheOtherSideIsSlow(t *testing.T) {
	c, other := pair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	got := make(chan []byte, 1)
	go func() {
		time.Sleep(10 * time.Millisecond)
		all, _ := io.ReadAll(other)
		got <- all
	}()
	if n, err := c.Write(sent); n != len(sent) || err != nil {
		t.Fatalf("wrote %d of %d, %v", n, len(sent), err)
	}
	expectKnown(t, c, true)
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if all := <-got; !bytes.Equal(all, sent) {
		t.Fatalf("%d bytes came, which are not those sent", len(all))
	}
}

func TestTheEndOfTheOtherSide(t *testing.T) {
	c, other := pair(t)
	other.Close()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("reads: %v", err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writes: %v", err)
	}
}

func TestCloseEndsWhoWaits(t *testing.T) {
	c, _ := pair(t)
	fd := c.FD()
	time.AfterFunc(10*time.Millisecond, func() { c.Close() })
	if _, err := c.Read(make([]byte, 1)); err != net.ErrClosed {
		t.Errorf("reads: %v", err)
	}
	for what, err := range map[string]error{
		"write":       func() error { _, err := c.Write([]byte("x")); return err }(),
		"close":       c.Close(),
		"close write": c.CloseWrite(),
		"deadline":    c.SetDeadline(time.Now()),
	} {
		if err != net.ErrClosed {
			t.Errorf("%s: %v", what, err)
		}
	}
	c.Forget()
	if got := c.FD(); got != -1 {
		t.Errorf("it is %d, as %d was closed", got, fd)
	}
}

func TestClosedBeforeAnybodyWaits(t *testing.T) {
	c, other := pair(t)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != net.ErrClosed {
		t.Errorf("reads: %v", err)
	}
	if _, err := other.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the other side reads: %v", err)
	}
}

func TestOthersAreNotTaken(t *testing.T) {
	one, _ := net.Pipe()
	defer one.Close()
	if _, ok := Take(one); ok {
		t.Error("a pipe in memory is taken")
	}
}

func TestAddressesAreKept(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	local := nc.LocalAddr().String()
	c, ok := Take(nc)
	if !ok {
		t.Fatal("it is not taken")
	}
	defer c.Close()
	if c.LocalAddr().String() != local || c.RemoteAddr().String() != ln.Addr().String() {
		t.Errorf("%s to %s, want %s to %s", c.LocalAddr(), c.RemoteAddr(), local, ln.Addr())
	}
}
