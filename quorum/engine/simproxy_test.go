package engine_test

import (
	"context"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/tidwall/redcon"

	"redlock-proxy/commands"
	"redlock-proxy/commands/lua"
	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
	"redlock-proxy/quorum/engine"
)

// Whole proxies, from the bytes of their clients on. Some clients lock by a script of
// their own, with a hash or by a transaction, some ask several proxies about one lock, and
// some are gone when the answer to their SET comes.
func TestSimulatedProxiesNeverGiveTwoHolders(t *testing.T) {
	exec, digest := scriptsOfTransactions()
	engine.SimulateProxies(t, exec, digest, printed, func(t *testing.T, e *engine.Engine, seed uint64) engine.Front {
		return newFront(t, e, seed, proxy.Config{})
	})
}

func newFront(t *testing.T, e *engine.Engine, seed uint64, cfg proxy.Config) *front {
	cfg.Commands = commands.Options{Version: "7.2.4", Password: func() string { return "" }}
	f := &front{
		t:      t,
		server: proxy.New(cfg, e, hclog.NewNullLogger()),
		pipes:  &pipes{conns: make(chan net.Conn), done: make(chan struct{})},
		rand:   rand.New(rand.NewPCG(seed, 0)),
	}
	f.served.Go(func() {
		if err := f.server.Serve(f.pipes); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return f
}

// printed is a client's script as a proxy has it run.
func printed(text string) *quorum.Script {
	program, err := lua.Read(text)
	if err != nil {
		panic(err)
	}
	return quorum.NewPrinted(quorum.Printed{Body: program.Body, Helpers: program.Helpers, Bounds: quorum.DefaultBounds})
}

// scriptsOfTransactions are those by which a proxy carries a transaction out, and watches
// what is no string.
func scriptsOfTransactions() (exec, digest *quorum.Script) {
	s := commands.NewDialect(commands.Options{}).Session(1)
	for _, line := range []string{"MULTI", "SET k v", "GET k"} {
		s.Do(strings.Fields(line))
	}
	exec = s.Do([]string{"EXEC"}).Requests[0].Script
	hash := quorum.Result{Decision: quorum.Won, Reply: quorum.Reply{Kind: quorum.FailureReply}}
	_, again := s.Do([]string{"WATCH", "k"}).Render.Render([]quorum.Result{hash})
	return exec, again.Requests[0].Script
}

// front is a proxy that is asked over pipes.
type front struct {
	t      *testing.T
	server *proxy.Server
	pipes  *pipes
	served sync.WaitGroup

	mu   sync.Mutex
	rand *rand.Rand
}

func (f *front) End() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	f.server.Shutdown(ctx)
	f.served.Wait()
}

const (
	release = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`
	extend  = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`
)

// Ask asks on a connection of its own. What is not answered, or with NOQUORUM, is unknown.
func (f *front) Ask(r quorum.Request) (result quorum.Result) {
	result.Decision = quorum.Unavailable
	c := f.dial()
	if c == nil {
		return result
	}
	defer c.conn.Close()
	ms := strconv.FormatInt(r.TTL.Milliseconds(), 10)
	var argv []string
	switch r.Kind {
	case quorum.Acquire:
		argv = []string{"SET", r.Key, r.Token, "NX", "PX", ms}
	case quorum.Release:
		argv = []string{"EVAL", release, "1", r.Key, r.Token}
	case quorum.Extend:
		argv = []string{"EVAL", extend, "1", r.Key, r.Token, ms}
	case quorum.Write:
		argv = slices.Clone(r.Args)
		argv[r.TTLArg] = ms
	case quorum.Remove:
		argv = []string{"DEL", r.Key}
	case quorum.Run:
		if kind := engine.OfStep(r.Script); kind != 0 {
			result.Decision = c.transacts(kind, r.Key, r.Args)
			return result
		}
		argv = append([]string{"EVAL", r.Script.Text, "1", r.Key}, r.Args...)
	default:
		argv = []string{"GET", r.Key}
	}
	if f.leaves(r) {
		c.send(argv)
		return result
	}
	replies, d := c.call(argv)
	if d == quorum.Contended && r.Kind == quorum.Read {
		return quorum.Result{Decision: quorum.Won, Exists: true, Type: "hash"}
	}
	if d != quorum.Won {
		result.Decision = d
		return result
	}
	reply, text := replies[0], string(replies[0].Data)
	switch {
	case r.Kind == quorum.Read:
		result.Exists, result.Value = reply.Data != nil, text
	case r.Kind == quorum.Run:
		n, _ := strconv.ParseInt(text, 10, 64)
		result.Script = &quorum.ScriptReply{Reply: quorum.Reply{Int: n}}
		d = engine.Says(r.Script, reply.Data == nil, n)
	case reply.Data == nil, text == "0":
		d = quorum.Contended
	}
	result.Decision = d
	return result
}

// client is a connection to a proxy.
type client struct {
	*front
	conn net.Conn
	got  []byte
}

// dial is nil if the proxy has ended.
func (f *front) dial() *client {
	ours, theirs := net.Pipe()
	select {
	case f.pipes.conns <- theirs:
		return &client{f, ours, nil}
	case <-f.pipes.done:
		return nil
	}
}

func (c *client) send(calls ...[]string) error {
	var bytes []byte
	for _, argv := range calls {
		bytes = redcon.AppendArray(bytes, len(argv))
		for _, a := range argv {
			bytes = redcon.AppendBulkString(bytes, a)
		}
	}
	_, err := c.conn.Write(bytes)
	return err
}

// call sends commands together and reads their replies: won, if none of them is an error.
// What is of another type is somebody else's lock.
func (c *client) call(calls ...[]string) (replies []redcon.RESP, d quorum.Decision) {
	if c.send(calls...) != nil {
		return nil, quorum.Unavailable
	}
	d = quorum.Won
	for range calls {
		reply, err := c.reply()
		if err != nil {
			return nil, quorum.Unavailable
		}
		if text := string(reply.Data); reply.Type == redcon.Error {
			switch d = quorum.Unavailable; {
			case strings.HasPrefix(text, "WRONGTYPE "):
				d = quorum.Contended
			case !strings.HasPrefix(text, "NOQUORUM ") && !strings.HasPrefix(text, "ERR the ttl is too short"):
				c.t.Errorf("%q was answered with %q", calls, text)
			}
		}
		replies = append(replies, reply)
	}
	return replies, d
}

// transacts takes, renews or frees a lock by a transaction: with WATCH, or, where the
// commands themselves say what came of them, perhaps without.
func (c *client) transacts(kind quorum.Kind, key string, args []string) quorum.Decision {
	token, get := args[0], []string{"GET", key}
	var does []string
	switch kind {
	case quorum.Acquire:
		does = []string{"SET", key, token, "PX", args[1]}
		if c.oneIn(3) {
			replies, d := c.call([]string{"MULTI"}, append(does, "NX"), get, []string{"EXEC"})
			if d == quorum.Won && !c.says(replies[3], token) {
				d = quorum.Contended
			}
			return d
		}
	case quorum.Extend:
		does = []string{"PEXPIRE", key, args[1]}
	default:
		does = []string{"DEL", key}
	}
	replies, d := c.call([]string{"WATCH", key}, get)
	switch free := kind == quorum.Acquire; {
	case d != quorum.Won:
		return d
	case replies[1].Data == nil && !free, replies[1].Data != nil && string(replies[1].Data) != token:
		return quorum.Contended
	}
	calls := [][]string{{"MULTI"}, does, {"EXEC"}}
	if kind != quorum.Release && c.oneIn(2) {
		calls = slices.Insert(calls, 2, get) // it is not carried out as a lock's, then
	}
	replies, d = c.call(calls...)
	if d == quorum.Won && replies[len(calls)-1].Count < 0 {
		d = quorum.Contended
	}
	return d
}

// says tells that the second reply in that of EXEC is the token.
func (c *client) says(exec redcon.RESP, token string) (so bool) {
	i := 0
	exec.ForEach(func(r redcon.RESP) bool {
		so = i == 1 && string(r.Data) == token
		i++
		return true
	})
	return so
}

func (f *front) oneIn(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rand.IntN(n) == 0
}

// leaves tells that the client does not wait for its answer. One with a constant token
// does: what is taken back of it later could be its next lock.
func (f *front) leaves(r quorum.Request) bool {
	return r.Kind == quorum.Acquire && strings.HasPrefix(r.Token, "c") && f.oneIn(10)
}

// reply reads one reply.
func (c *client) reply() (redcon.RESP, error) {
	part := make([]byte, 512)
	for {
		if size, reply := redcon.ReadNextRESP(c.got); size > 0 {
			c.got = c.got[size:]
			return reply, nil
		}
		n, err := c.conn.Read(part)
		if c.got = append(c.got, part[:n]...); n == 0 && err != nil {
			return redcon.RESP{}, err
		}
	}
}
