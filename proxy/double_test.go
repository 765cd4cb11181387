package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// asked is a request that the fake engine has got and not yet answered.
type asked struct {
	request quorum.Request
	asker   quorum.Asker
}

// fakeEngine keeps requests until the test answers them, from the test's
// goroutine, in any order, or never. With auto it answers by itself.
type fakeEngine struct {
	auto func(e *fakeEngine, a asked)

	mu      sync.Mutex
	waiting []asked
	all     []quorum.Request
	status  quorum.Status

	takenBack []string

	orders []string // what the operator ordered
	notNow error    // what orders are answered

	timeless bool // the masters' clocks do not agree

	weights map[string]int // of requests, by their keys
	memory  atomic.Int64   // taken for what masters answer

	broadcast
}

func (e *fakeEngine) Put(r *quorum.Request, asker quorum.Asker) {
	a := asked{*r, asker}
	e.mu.Lock()
	e.all = append(e.all, *r)
	if e.auto == nil {
		e.waiting = append(e.waiting, a)
	}
	e.mu.Unlock()
	if e.auto != nil {
		e.auto(e, a)
	}
}

func (e *fakeEngine) TakeBack(l quorum.Lock) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.takenBack = append(e.takenBack, l.Key)
}

func (e *fakeEngine) Weight(r *quorum.Request) int { return e.weights[r.Key] }

func (e *fakeEngine) Memory() int            { return int(e.memory.Load()) }
func (e *fakeEngine) Open(int) error         { return nil }
func (e *fakeEngine) Ready() bool            { return true }
func (e *fakeEngine) Now() (time.Time, bool) { return time.UnixMicro(1700000000123456), !e.timeless }
func (e *fakeEngine) Status() quorum.Status  { return e.status }

func (e *fakeEngine) Admit(master string) error { return e.order("admit " + master) }
func (e *fakeEngine) Drain(master string, force bool) error {
	if force {
		master += " by force"
	}
	return e.order("drain " + master)
}
func (e *fakeEngine) Resume(master string) error { return e.order("resume " + master) }

func (e *fakeEngine) order(text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.orders = append(e.orders, text)
	return e.notNow
}

// answer answers the oldest waiting request for key.
func (e *fakeEngine) answer(t testing.TB, key string, r quorum.Result) {
	t.Helper()
	e.mu.Lock()
	var found *asked
	for i := range e.waiting {
		if e.waiting[i].request.Key == key {
			a := e.waiting[i]
			found = &a
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			break
		}
	}
	e.mu.Unlock()
	if found == nil {
		t.Errorf("no request for %q is waiting", key)
		return
	}
	if r.Decision == quorum.Won {
		r.Lock.Key = key
	}
	found.asker.Answer(r).Flush()
}

// keys are those of all requests so far, with the kind.
func (e *fakeEngine) keys() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	names := make([]string, len(e.all))
	for i, r := range e.all {
		names[i] = kinds[r.Kind] + ":" + r.Key
	}
	return strings.Join(names, " ")
}

var won = quorum.Result{Decision: quorum.Won}

// answerAtOnce wins everything before Put returns.
func answerAtOnce(_ *fakeEngine, a asked) {
	r := won
	r.Reply = quorum.Reply{Kind: quorum.StatusReply, Str: "OK"}
	r.Script = &quorum.ScriptReply{Reply: r.Reply}
	a.asker.Answer(r).Flush()
}

// answerLater wins everything on another goroutine after a while.
func answerLater(d time.Duration) func(*fakeEngine, asked) {
	return func(e *fakeEngine, a asked) {
		time.AfterFunc(d, func() { answerAtOnce(e, a) })
	}
}

// scripted is a session of few words:
//
//	ping          +PONG at once
//	acquire k     an acquire; +OK or null
//	write k       a write; the key as a bulk string
//	many k k      a write each; the number of wins
//	extendmore k  a read, then an extend of the same key
//	writebig k    a write; a bulk string of 10 million bytes
//	writelong k   a write; a bulk string of 50,000 bytes
//	panic         panics in Do
//	hang x        +OK once hanging is closed, and so is exec x
//	panicrender k panics in Render
//	slow k        a write; the key as a bulk string, whose Render waits for hanging
//	quit          +OK and the end
//	big n         a bulk string of n bytes
//	quiet         muted
//	anything else goes to the real dialect
type scripted struct{ *commands.Session }

// hanging is what hang waits for.
var hanging chan struct{}

func (s scripted) Do(args []string) commands.Action {
	if len(args) < 2 && args[0] != "ping" && args[0] != "quiet" && args[0] != "quit" && args[0] != "panic" {
		return s.Session.Do(args)
	}
	row := commands.Table()[0]
	one := func(kind quorum.Kind, key string) []quorum.Request {
		r := quorum.Request{Kind: kind, Key: key}
		if kind == quorum.Write {
			r.Args = []string{"SET", key, "v"}
		}
		return []quorum.Request{r}
	}
	switch args[0] {
	case "ping":
		return commands.Action{Command: row, Reply: commands.Simple("PONG")}
	case "quiet":
		return commands.Action{Command: row, Reply: commands.Simple("never seen"), Muted: true}
	case "quietwrite":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(args[1]), Muted: true}
	case "acquire":
		return commands.Action{Command: row, Requests: one(quorum.Acquire, args[1]), Render: renderKey(args[1])}
	case "write":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(args[1])}
	case "writebig":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(strings.Repeat("x", 10_000_000))}
	case "writelong":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderKey(strings.Repeat("x", 50_000))}
	case "many":
		var requests []quorum.Request
		for _, key := range args[1:] {
			requests = append(requests, one(quorum.Write, key)...)
		}
		return commands.Action{Command: row, Requests: requests, Render: renderCount{}}
	case "extendmore":
		return commands.Action{Command: row, Requests: one(quorum.Read, args[1]), Render: renderMore(args[1]), Continues: true}
	case "panic":
		panic("as the test asked")
	case "hang", "exec":
		<-hanging
		return commands.Action{Command: row, Reply: commands.OK}
	case "panicrender":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderPanic{}}
	case "slow":
		return commands.Action{Command: row, Requests: one(quorum.Write, args[1]), Render: renderSlow{renderKey(args[1])}, Continues: true}
	case "quit":
		return commands.Action{Command: row, Reply: commands.OK, Close: true}
	case "big":
		n := 0
		for _, c := range args[1] {
			n = min(max(n*10+int(c-'0'), 0), 1<<24)
		}
		return commands.Action{Command: row, Reply: commands.Bulk(strings.Repeat("x", n))}
	}
	return s.Session.Do(args)
}

type (
	renderKey   string
	renderMore  string
	renderCount struct{}
	renderPanic struct{}
	renderSlow  struct{ renderKey }
)

func (renderSlow) Slow([]quorum.Result) bool { return true }
func (renderSlow) Forgo()                    {}

func (r renderSlow) Render(results []quorum.Result) (commands.Reply, commands.Action) {
	<-hanging
	return r.renderKey.Render(results)
}

func (k renderKey) Render(results []quorum.Result) (commands.Reply, commands.Action) {
	if results[0].Decision != quorum.Won {
		return commands.Null, commands.Action{}
	}
	return commands.Bulk(string(k)), commands.Action{}
}

func (k renderMore) Render([]quorum.Result) (commands.Reply, commands.Action) {
	return commands.Reply{}, commands.Action{
		Requests: []quorum.Request{{Kind: quorum.Extend, Key: string(k)}}, Render: renderKey(k),
	}
}

func (renderCount) Render(results []quorum.Result) (commands.Reply, commands.Action) {
	n := int64(0)
	for _, r := range results {
		if r.Decision == quorum.Won {
			n++
		}
	}
	return commands.Integer(n), commands.Action{}
}

func (renderPanic) Render([]quorum.Result) (commands.Reply, commands.Action) {
	panic("as the test asked")
}

// logged is what the server's log holds.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// rig is a server over a fake engine. It ends with the test.
type rig struct {
	t      testing.TB
	engine *fakeEngine
	log    *logged
	server *Server
	pipes  *pipeListener
	served sync.WaitGroup

	remembered atomic.Int64 // bytes, for all clients
}

func newRig(t testing.TB, cfg Config) *rig {
	r := &rig{t: t, engine: &fakeEngine{}, log: &logged{}, pipes: newPipeListener()}
	if cfg.Commands.Version == "" {
		cfg.Commands.Version = "7.2.4"
	}
	if cfg.Commands.Password == nil {
		cfg.Commands.Password = func() string { return "" }
	}
	dialect := commands.NewDialect(cfg.Commands)
	logger := hclog.New(&hclog.LoggerOptions{Output: r.log, Level: hclog.Debug})
	r.server = newServer(cfg, r.engine, logger, func(id int64) session { return scripted{dialect.Session(id)} })
	r.server.memory.remembered = func() int { return int(r.remembered.Load()) }
	r.serve(r.pipes)
	t.Cleanup(r.end)
	return r
}

func (r *rig) serve(ln net.Listener) {
	r.served.Go(func() {
		if err := r.server.Serve(ln); err != nil {
			r.t.Errorf("Serve: %v", err)
		}
	})
}

// end shuts the server down, by force if it must, and waits for everything.
func (r *rig) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r.server.Shutdown(ctx)
	r.served.Wait()
}

// dial makes a connection over a pipe.
func (r *rig) dial() *client {
	ours, theirs := net.Pipe()
	r.pipes.conns <- theirs
	c := &client{t: r.t, nc: ours}
	r.t.Cleanup(func() { ours.Close() })
	return c
}

// dialTCP makes a connection over a real socket.
func (r *rig) dialTCP() *client {
	r.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.serve(ln)
	return r.dialAt(ln.Addr())
}

func (r *rig) dialAt(addr net.Addr) *client {
	r.t.Helper()
	nc, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	return &client{t: r.t, nc: nc}
}

// client is the other end.
type client struct {
	t  testing.TB
	nc net.Conn
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.nc, text); err != nil {
		c.t.Errorf("send: %v", err)
	}
}

// expect reads exactly text.
func (c *client) expect(text string) {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, len(text))
	n, err := io.ReadFull(c.nc, got)
	if string(got[:n]) != text {
		c.t.Fatalf("got %s (%v), want %s", short(got[:n]), err, short([]byte(text)))
	}
}

// expectEnd reads text and then the end of the connection.
func (c *client) expectEnd(text string) {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(c.nc)
	var timeout net.Error
	if string(got) != text || errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatalf("got %s (%v), want %s and the end", short(got), err, short([]byte(text)))
	}
}

// expectSilence: nothing can be read now. In a synctest bubble only.
func (c *client) expectSilence() {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(time.Millisecond))
	got := make([]byte, 100)
	if n, _ := c.nc.Read(got); n > 0 {
		c.t.Fatalf("got %q, want nothing", got[:n])
	}
}

// pipeListener hands out the connections that a test puts in.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func short(b []byte) string {
	if len(b) > 300 {
		return fmt.Sprintf("%q and %d bytes more", b[:300], len(b)-300)
	}
	return fmt.Sprintf("%q", b)
}
