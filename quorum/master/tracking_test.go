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
	tr, err := m.Track(ctx, t.Context(), false)
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

const hello = "%1\r\n+proto\r\n:3\r\n"

// A master may say what it likes: it has us hold little.
func TestMasterThatTellsEnormouslyIsCutOff(t *testing.T) {
	long := bulk(strings.Repeat("k", maxGateBulk))
	many := "*4096\r\n" + strings.Repeat(":1\r\n", 4096)
	for name, then := range map[string]string{
		"one long name":   array(long),
		"many long names": array(long, long, long, long),
		"lists":           "*16\r\n" + strings.Repeat(many, 16),
	} {
		tr := tracked(t, hello, ">2\r\n"+bulk("invalidate")+then)
		if told, err := tr.Next(5 * time.Second); err != ErrGarbage {
			t.Errorf("%s: %d keys are told of: %v", name, len(told.Changed), err)
		}
	}
}

// A master that tells of changes and answers nothing is not asked without end.
func TestMasterThatAnswersNothingIsNotAskedWithoutEnd(t *testing.T) {
	tr := tracked(t, hello, "")
	for range 2 * askedAtOnce {
		if err := tr.Ask(0, "k", 5*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(tr.asked); n > askedAtOnce {
		t.Errorf("%d answers are awaited", n)
	}
}

// A server tells once of what it was asked for. One that tells without end, of whatever, is left.
func TestMasterThatTellsWithoutEndIsCutOff(t *testing.T) {
	for _, told := range []string{array(bulk("k")), "_\r\n"} {
		tr := tracked(t, hello, strings.Repeat(">2\r\n"+bulk("invalidate")+told, 2*mostUnasked))
		n := 0
		var err error
		for ; err == nil; n++ {
			_, err = tr.Next(5 * time.Second)
		}
		if err != ErrGarbage || n > mostUnasked+2 {
			t.Errorf("it has told %d times, and then: %v", n, err)
		}
	}
}
