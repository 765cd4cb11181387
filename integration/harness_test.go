package integration

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary is the program under test, built once for all tests.
var binary struct {
	dir   string
	build func() (string, error)
}

// servers are what masters are started from, unless a test says it.
var servers Servers

// started counts the masters that each test has started, whatever tests go on beside it.
var started turns

type turns struct {
	mu sync.Mutex // guards by
	by map[string]int
}

func (n *turns) next(t *testing.T) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	test, _, _ := strings.Cut(t.Name(), "/")
	if n.by == nil {
		n.by = make(map[string]int)
	}
	n.by[test]++
	return n.by[test] - 1
}

func init() {
	flag.Var(&servers, "servers", "start masters from these redis-servers in turn: installed, or versions that integration/servers knows, with commas")
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "redlock-proxy-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer endReference()
	binary.dir = dir
	binary.build = sync.OnceValues(func() (string, error) { return BuildProxy(dir, raceEnabled) })
	return m.Run()
}

func program(t *testing.T) string {
	t.Helper()
	path, err := binary.build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// startMaster starts one redis-server that ends with the test.
func startMaster(t *testing.T, o RedisOptions) *Redis {
	t.Helper()
	if o.Server == "" {
		o.Server = servers.Of(started.next(t))
	}
	r, err := StartRedis(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func startMasters(t *testing.T, n int) []*Redis {
	t.Helper()
	masters := make([]*Redis, n)
	for i := range masters {
		masters[i] = startMaster(t, RedisOptions{})
	}
	return masters
}

// durableMasters are masters that lose nothing when they are killed.
func durableMasters(t *testing.T, n int) []*Redis {
	t.Helper()
	masters := make([]*Redis, n)
	for i := range masters {
		masters[i] = startMaster(t, RedisOptions{Args: []string{"--appendonly", "yes", "--appendfsync", "always"}})
	}
	return masters
}

// mark marks masters, as it is done where a proxy is started while all of them
// can be reached.
func mark(t *testing.T, args ...string) {
	t.Helper()
	must(t, bootstrap(program(t), nil, args))
}

func startRelay(t *testing.T, target string) *Relay {
	t.Helper()
	r, err := NewRelay(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// relayed puts a relay before each master.
func relayed(t *testing.T, masters []*Redis) []*Relay {
	t.Helper()
	relays := make([]*Relay, len(masters))
	for i, m := range masters {
		relays[i] = startRelay(t, m.Addr)
	}
	return relays
}

// flags names the masters to the proxy.
func flags(masters []*Redis) []string {
	var args []string
	for _, m := range masters {
		args = append(args, "--master", m.Addr)
	}
	return args
}

// relayFlags names the masters behind relays, as they are called without: all
// proxies must call a master alike.
func relayFlags(relays []*Relay) []string {
	var args []string
	for _, r := range relays {
		args = append(args, "--master", "redis://"+r.Addr+"?name="+r.target)
	}
	return args
}

// launch starts the program as described. When the test ends it is asked to
// end too, and must do so with exit code 0.
func launch(t *testing.T, o ProxyOptions) *Proxy {
	t.Helper()
	o.Path = program(t)
	p, err := StartProxy(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if code, err := p.Terminate(patience); err != nil || code != 0 {
			t.Errorf("the proxy ended with exit code %d, %v", code, err)
		}
		if t.Failed() {
			t.Logf("the proxy's log:\n%s", p.Log())
		}
	})
	return p
}

// patience is how long is waited for what must come. It ends only what would hang, and so
// is longer than anything takes on a machine that does other things at the same time.
const patience = time.Minute

// patient lets a machine that does other things at the same time be slow: most
// tests are about what is decided and not about how long it takes. Those that
// are about time name their own, which count as they come later.
var patient = []string{"--acquire-timeout", "2s", "--master-timeout", "1s"}

// unhurried is for tests that hold back what masters answer, until something has been asked
// of them. A probe that is not answered would keep that from being sent.
var unhurried = []string{"--acquire-timeout", "30s", "--master-timeout", "30s", "--probe-interval", "20s"}

// brisk is how long a quorum is waited for where there is none, but where there is one as well.
var brisk = []string{"--acquire-timeout", briskly.String(), "--master-timeout", briskly.String()}

const briskly = 500 * time.Millisecond

// startProxy starts a proxy with the flags given and waits until every one of
// its masters votes.
func startProxy(t *testing.T, args ...string) *Proxy {
	t.Helper()
	p := launch(t, ProxyOptions{Args: append(slices.Clone(patient), args...)})
	n := 0
	for _, a := range args {
		if a == "--master" {
			n++
		}
	}
	awaitVoting(t, p, n)
	return p
}

// quorum is N masters and a proxy in front of them.
func startQuorum(t *testing.T, n int, args ...string) ([]*Redis, *Proxy) {
	t.Helper()
	masters := startMasters(t, n)
	return masters, startProxy(t, append(flags(masters), args...)...)
}

// voting counts the masters whose votes count, as INFO tells.
func voting(t *testing.T, p *Proxy) int {
	t.Helper()
	c := dial(t, p.Addr)
	defer c.Close()
	return strings.Count(c.text("INFO", "quorum"), "state=voting")
}

func awaitVoting(t *testing.T, p *Proxy, n int) {
	t.Helper()
	eventually(t, func() error {
		if got := voting(t, p); got != n {
			return fmt.Errorf("%d masters vote, want %d", got, n)
		}
		return nil
	})
}

// eventually tries until it works.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", patience, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// always holds that something does not change for a while.
func always(t *testing.T, during time.Duration, check func() error) {
	t.Helper()
	for deadline := time.Now().Add(during); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err := check(); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

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
	reply := k.do(args...)
	if f, ok := reply.(Failure); !ok || !strings.HasPrefix(string(f), "NOQUORUM ") {
		k.t.Fatalf("%q: got %#v, want NOQUORUM", args, reply)
	}
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

// holding tells on which masters key holds token.
func holding(t *testing.T, masters []*Redis, key, token string) []int {
	t.Helper()
	var on []int
	for i, m := range masters {
		if m.Ended() {
			continue
		}
		if ask(t, m, "GET", key) == token {
			on = append(on, i)
		}
	}
	return on
}

// wantHolding waits until exactly these masters hold the token. It is not at
// once so: an answer is sent with the deciding vote, and the others follow.
func wantHolding(t *testing.T, masters []*Redis, key, token string, want ...int) {
	t.Helper()
	eventually(t, func() error {
		if got := holding(t, masters, key, token); !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s=%s is held by masters %v, want %v", key, token, got, want)
		}
		return nil
	})
}

func wantGone(t *testing.T, masters []*Redis, key string) {
	t.Helper()
	eventually(t, func() error {
		for i, m := range masters {
			if !m.Ended() && ask(t, m, "EXISTS", key) != int64(0) {
				return fmt.Errorf("master %d still has %s", i, key)
			}
		}
		return nil
	})
}
