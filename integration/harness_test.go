package integration

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
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

// startProxy starts a proxy with the flags given and waits until every one of
// its masters votes and is heard, and it has greeted other proxies.
func startProxy(t *testing.T, args ...string) *Proxy {
	t.Helper()
	p := launch(t, ProxyOptions{Args: append(slices.Clone(patient), args...)})
	n := 0
	for _, a := range args {
		if a == "--master" {
			n++
		}
	}
	awaitQuiet(t, p, n)
	return p
}

// awaitQuiet waits until all n masters vote and are heard, and nothing is on its way to them.
func awaitQuiet(t *testing.T, p *Proxy, n int) {
	t.Helper()
	awaitVoting(t, p, n)
	awaitSubscriptions(t, p, n)
	eventually(t, func() error {
		c := dial(t, p.Addr)
		defer c.Close()
		if info := c.text("INFO", "quorum"); strings.Count(info, ",queue=0,in_batch=0,") != n {
			return fmt.Errorf("something is on its way:\n%s", info)
		}
		return nil
	})
	// A lane may look at its master once more behind that; what is asked goes behind it.
	c := dial(t, p.Addr)
	defer c.Close()
	c.integer("DBSIZE")
}

// quorum is N masters and a proxy in front of them.
func startQuorum(t *testing.T, n int, args ...string) ([]*Redis, *Proxy) {
	t.Helper()
	masters := startMasters(t, n)
	return masters, startProxy(t, append(flags(masters), args...)...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
