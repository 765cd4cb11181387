package transcript

import (
	"strings"
	"time"
)

// Conn is one client's connection.
type Conn interface {
	// Send sends one command.
	Send(args []string) error
	// Receive waits for one reply and gives its lines, escapes resolved. A
	// connection that the server has closed is the one line Closed.
	Receive() ([]string, error)
}

// Target is whom a conversation is held with.
type Target struct {
	Side  Side // Proxy or Redis: whose steps are taken
	Proto int  // 2 or 3: how the clients begin

	Dial    func(client int) (Conn, error)
	Wait    func(time.Duration)
	Masters func(args []string) error
}

// TB is what of testing.TB is used.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Run holds the conversation and tells each reply that reads otherwise. It leaves
// the connections to the caller, who dialled them.
func Run(t TB, f *File, target Target) {
	t.Helper()
	if f.Only != "" && f.Only != target.Side {
		return
	}
	r := run{t: t, file: f, target: target, clients: make(map[int]*client), bound: make(bindings)}
	for i := range f.Steps {
		step := &f.Steps[i]
		if step.Only != "" && step.Only != target.Side {
			continue
		}
		switch {
		case step.Wait > 0:
			target.Wait(step.Wait)
		case step.Masters != nil:
			if err := target.Masters(step.Masters); err != nil {
				t.Fatalf("%s:%d: %v", f.Name, step.Line, err)
			}
		default:
			r.exchange(step)
		}
	}
}

type run struct {
	t       TB
	file    *File
	target  Target
	clients map[int]*client
	bound   bindings
}

type client struct {
	conn  Conn
	proto int
}

func (r *run) exchange(step *Step) {
	r.t.Helper()
	c := r.client(step)
	args := make([]string, len(step.Send))
	for i, word := range step.Send {
		args[i] = r.bound.insert(word)
	}
	name := "nothing"
	if !step.unasked() {
		name = strings.Join(args, " ")
		if err := c.conn.Send(args); err != nil {
			r.t.Fatalf("%s:%d: sending %s: %v", r.file.Name, step.Line, args[0], err)
		}
	}
	for want := step.Want; len(want) > 0; {
		got, err := c.conn.Receive()
		if err != nil {
			r.t.Fatalf("%s:%d: the reply to %s: %v", r.file.Name, step.Line, name, err)
		}
		if !step.unasked() {
			c.follow(args, got)
		}
		var one []string
		one, want = split(want)
		if wrong := r.bound.match(one, got, c.proto); wrong != "" {
			r.t.Errorf("%s:%d: %s\n%s\nwhole reply:\n%s", r.file.Name, step.Line, Escape(name), wrong, show(got))
		}
	}
}

// split takes the first reply off. The end of the connection is a reply of its
// own, and so is a push.
func split(want []string) (one, rest []string) {
	for i, line := range want {
		if i > 0 && (line == Closed || line[0] == '>') {
			return want[:i], want[i:]
		}
	}
	return want, nil
}

// follow keeps up with the protocol of a connection.
func (c *client) follow(args, got []string) {
	refused := strings.HasPrefix(got[0], "-")
	switch name := strings.ToUpper(args[0]); {
	case refused:
	case name == "HELLO" && len(args) > 1:
		c.proto = int(args[1][0] - '0')
	case name == "RESET":
		c.proto = 2
	}
}

func (r *run) client(step *Step) *client {
	r.t.Helper()
	if c := r.clients[step.Client]; c != nil {
		return c
	}
	conn, err := r.target.Dial(step.Client)
	if err != nil {
		r.t.Fatalf("%s:%d: client %d: %v", r.file.Name, step.Line, step.Client, err)
	}
	c := &client{conn: conn, proto: 2}
	r.clients[step.Client] = c
	if r.target.Proto == 3 && !r.file.RESP2 {
		c.proto = 3
		if err := conn.Send([]string{"HELLO", "3"}); err != nil {
			r.t.Fatalf("%s:%d: HELLO 3: %v", r.file.Name, step.Line, err)
		}
		if got, err := conn.Receive(); err != nil || got[0] != "%7" {
			r.t.Fatalf("%s:%d: HELLO 3: %q, %v", r.file.Name, step.Line, got, err)
		}
	}
	return c
}

func show(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("< " + Escape(line) + "\n")
	}
	return b.String()
}
