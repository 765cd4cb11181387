package quorum_test

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/tidwall/redcon"

	"redlock-proxy/commands"
	"redlock-proxy/proxy"
	"redlock-proxy/quorum"
)

// Whole proxies, from the bytes of their clients on. Some clients lock by a script of
// their own, some ask several proxies about one lock, and some are gone when the answer
// to their SET comes.
func TestSimulatedProxiesNeverGiveTwoHolders(t *testing.T) {
	quorum.SimulateProxies(t, func(t *testing.T, e *quorum.Engine, seed uint64) quorum.Front {
		cfg := proxy.Config{Commands: commands.Options{Version: "7.2.4", Password: func() string { return "" }}}
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
	})
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
	ms := strconv.FormatInt(r.TTL.Milliseconds(), 10)
	var argv []string
	switch r.Kind {
	case quorum.Acquire:
		argv = []string{"SET", r.Key, r.Token, "NX", "PX", ms}
	case quorum.Release:
		argv = []string{"EVAL", release, "1", r.Key, r.Token}
	case quorum.Extend:
		argv = []string{"EVAL", extend, "1", r.Key, r.Token, ms}
	case quorum.Run:
		argv = append([]string{"EVAL", r.Script.Text(), "1", r.Key}, r.Args...)
	default:
		argv = []string{"GET", r.Key}
	}
	ours, theirs := net.Pipe()
	defer ours.Close()
	select {
	case f.pipes.conns <- theirs:
	case <-f.pipes.done:
		return result
	}
	call := redcon.AppendArray(nil, len(argv))
	for _, a := range argv {
		call = redcon.AppendBulkString(call, a)
	}
	if _, err := ours.Write(call); err != nil {
		return result
	}
	if f.leaves(r) {
		return result
	}
	reply, err := replyOn(ours)
	text := string(reply.Data)
	switch {
	case err != nil:
		return result
	case reply.Type == redcon.Error:
		if !strings.HasPrefix(text, "NOQUORUM ") {
			f.t.Errorf("%q was answered with %q", argv, text)
		}
		return result
	case r.Kind == quorum.Read:
		result.Exists, result.Value = reply.Data != nil, text
	case reply.Data == nil, text == "0":
		result.Decision = quorum.Contended
		return result
	}
	result.Decision = quorum.Won
	return result
}

// leaves tells that the client does not wait for its answer. One with a constant token
// does: what is taken back of it later could be its next lock.
func (f *front) leaves(r quorum.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return r.Kind == quorum.Acquire && strings.HasPrefix(r.Token, "c") && f.rand.IntN(10) == 0
}

// replyOn reads one reply.
func replyOn(nc net.Conn) (redcon.RESP, error) {
	var got []byte
	part := make([]byte, 512)
	for {
		n, err := nc.Read(part)
		got = append(got, part[:n]...)
		if size, reply := redcon.ReadNextRESP(got); size > 0 {
			return reply, nil
		}
		if err != nil {
			return redcon.RESP{}, err
		}
	}
}

// pipes is a listener.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
