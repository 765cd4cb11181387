package master

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// tracked is what tells of changes at a master that answers so to HELLO, and then to the question for a key.
func tracked(t *testing.T, hello, then string) *Tracking {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		answers := map[string]string{"INFO": bulk("role:master\r\nrun_id:1\r\nredis_version:7.4.0\r\n"), "ON": hello + "+OK\r\n", "PTTL": then}
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			io.WriteString(conn, answers[strings.TrimSpace(line)])
		}
	}()
	m := Master{Network: "tcp", Address: listener.Addr().String()}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	tr, err := m.Track(ctx, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	if err := tr.Ask(0, "k", 5*time.Second); err != nil {
		t.Fatal(err)
	}
	return tr
}

// A master with modules tells of each what it was started with, deep within its answer.
func TestMasterWithModulesTellsOfChanges(t *testing.T) {
	module := "%4\r\n" + bulk("name") + bulk("search") + bulk("ver") + integer(1) + bulk("path") + bulk("s.so") + bulk("args") + array(bulk("A"), bulk("1"))
	tr := tracked(t, "%2\r\n"+bulk("proto")+integer(3)+bulk("modules")+array(module, module), ">2\r\n"+bulk("invalidate")+array(bulk("k")))
	if told, err := tr.Next(5 * time.Second); err != nil || fmt.Sprint(told.Changed) != "[k]" {
		t.Errorf("it told %v: %v", told, err)
	}
}
