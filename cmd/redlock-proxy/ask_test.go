package main

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

// answering is a server on a free port that reads one request and answers text.
func answering(t *testing.T, text string) (address string, request func() string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	got := make(chan string, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			close(got)
			return
		}
		defer conn.Close()
		b := make([]byte, 4096)
		n, _ := conn.Read(b)
		conn.Write([]byte(text))
		got <- string(b[:n])
	}()
	return ln.Addr().String(), func() string { return <-got }
}

func TestAnyReplyIsASignOfLife(t *testing.T) {
	for _, c := range []struct{ answer, reply string }{
		{"+PONG\r\n", "PONG"},
		{"+OK\r\n+PONG\r\n", "PONG"},
		{"-WRONGPASS invalid\r\n-NOAUTH Authentication required.\r\n", "-NOAUTH Authentication required."},
		{"-ERR max number of clients reached\r\n", "-ERR max number of clients reached"},
	} {
		address, request := answering(t, c.answer)
		e := endpoint{network: "tcp", address: address, password: "pw"}
		if reply, err := e.alive(patience); err != nil || reply != c.reply {
			t.Errorf("%q: %q, %v; want %q", c.answer, reply, err, c.reply)
		}
		if got, want := request(), "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*1\r\n$4\r\nPING\r\n"; got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
	for _, answer := range []string{"", "HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n", "+PONG\n", "+PO", "$5\r\nab", "$-1\r\n", "$99999999999\r\n", "*0\r\n"} {
		address, _ := answering(t, answer)
		e := endpoint{network: "tcp", address: address}
		if reply, err := e.alive(patience); err == nil {
			t.Errorf("%q is a sign of life: %q", answer, reply)
		}
	}
}

func TestReadyIsALineOfItsOwn(t *testing.T) {
	bulk := func(text string) string { return string(appendCommand(nil, text)[len("*1\r\n"):]) }
	for _, c := range []struct {
		answer string
		code   int
		says   string
	}{
		{bulk("# Quorum\r\nready:1\r\nquorum:2\r\n"), exitOK, "ready"},
		{bulk("# Quorum\r\nready:0\r\n"), exitFailed, "is not ready: no quorum of masters can vote, or it is shutting down"},
		{bulk("# Quorum\r\nalready:1\r\nready:10\r\n"), exitFailed, "is no redlock-proxy"},
		{bulk(""), exitFailed, "is no redlock-proxy"}, // as Redis answers
		{"-ERR \x1b[31mred\r\n", exitFailed, "answers ERR ?[31mred"},
		{"-NOAUTH Authentication required.\r\n", exitFailed, "answers NOAUTH Authentication required."},
		{"", exitFailed, "no answer from"},
	} {
		address, request := answering(t, c.answer)
		var stdout, stderr bytes.Buffer
		code := ready(loaded(t, "--listen", address), &stdout, &stderr)
		if says := stdout.String() + stderr.String(); code != c.code || !strings.Contains(says, c.says) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", c.answer, code, says, c.code, c.says)
		}
		if got, want := request(), "*2\r\n$4\r\nINFO\r\n$6\r\nquorum\r\n"; got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
}
