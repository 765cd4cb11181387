package integration

import (
	"reflect"
	"strings"
	"testing"
)

// talk is a Client whose every trouble is the test's end.
type talk struct {
	*Client
	t *testing.T
}

func dial(t *testing.T, addr string) talk {
	t.Helper()
	c, err := Dial(addr)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return talk{c, t}
}

// direct speaks to a master itself.
func direct(t *testing.T, r *Redis) talk {
	t.Helper()
	c, err := r.Dial()
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return talk{c, t}
}

// ask puts one command to a master itself, on a connection of its own.
func ask(t *testing.T, r *Redis, args ...string) any {
	t.Helper()
	c := direct(t, r)
	defer c.Close()
	return c.do(args...)
}

func (k talk) do(args ...string) any {
	k.t.Helper()
	reply, err := k.Do(args...)
	if err != nil {
		k.t.Fatalf("%q: %v", args, err)
	}
	return reply
}

func (k talk) send(args ...string) {
	k.t.Helper()
	must(k.t, k.Send(args...))
}

// receive expects the reply to something that was sent before.
func (k talk) receive(want any) {
	k.t.Helper()
	reply, err := k.Receive()
	must(k.t, err)
	if !reflect.DeepEqual(reply, widen(want)) {
		k.t.Fatalf("got %#v, want %#v", reply, want)
	}
}

func (k talk) want(want any, args ...string) {
	k.t.Helper()
	if got := k.do(args...); !reflect.DeepEqual(got, widen(want)) {
		k.t.Fatalf("%q: got %#v, want %#v", args, got, want)
	}
}

// wantNoQuorum expects the error that too few masters could vote.
func (k talk) wantNoQuorum(args ...string) {
	k.t.Helper()
	if reply := k.do(args...); !isNoQuorum(reply) {
		k.t.Fatalf("%q: got %#v, want NOQUORUM", args, reply)
	}
}

func isNoQuorum(reply any) bool {
	f, ok := reply.(Failure)
	return ok && strings.HasPrefix(string(f), "NOQUORUM ")
}

func (k talk) text(args ...string) string {
	k.t.Helper()
	s, ok := k.do(args...).(string)
	if !ok {
		k.t.Fatalf("%q: not a string", args)
	}
	return s
}

func (k talk) integer(args ...string) int64 {
	k.t.Helper()
	reply := k.do(args...)
	n, ok := reply.(int64)
	if !ok {
		k.t.Fatalf("%q: got %#v, want an integer", args, reply)
	}
	return n
}

func widen(v any) any {
	if n, ok := v.(int); ok {
		return int64(n)
	}
	return v
}
