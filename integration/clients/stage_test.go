package clients

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"redlock-proxy/integration"
)

// program builds the proxy, once for all languages.
var program func() (string, error)

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
	program = sync.OnceValues(func() (string, error) { return integration.BuildProxy(dir, raceEnabled) })
	return m.Run()
}

// start is three masters and a proxy with these options in front of them that end with the test.
// The proxy bears with a machine that does other things at the same time: the
// matrix is about what is decided and not about how long it takes.
func start(t *testing.T, options ...string) ([]*integration.Redis, *integration.Proxy) {
	t.Helper()
	masters, args := startMasters(t)
	p := startProxy(t, append(args, options...), "")
	awaitVoting(t, p, len(masters))
	return masters, p
}

// startMasters gives masters that end with the test, and what a proxy in front of them is told.
func startMasters(t *testing.T) (masters []*integration.Redis, args []string) {
	t.Helper()
	args = []string{"--acquire-timeout", "2s", "--master-timeout", "5s"}
	for range 3 {
		m, err := integration.StartRedis(integration.RedisOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Stop(); err != nil {
				t.Error(err)
			}
		})
		masters = append(masters, m)
		args = append(args, "--master", m.Addr)
	}
	return masters, args
}

// startProxy starts a proxy at an address, or at any if that is "".
func startProxy(t *testing.T, args []string, addr string) *integration.Proxy {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	p, err := integration.StartProxy(integration.ProxyOptions{Path: path, Args: args, Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		terminate(t, p)
		if t.Failed() {
			t.Logf("the proxy's log:\n%s", p.Log())
		}
	})
	return p
}

func terminate(t *testing.T, p *integration.Proxy) {
	t.Helper()
	if code, err := p.Terminate(time.Minute); err != nil || code != 0 {
		t.Errorf("the proxy ended with exit code %d, %v", code, err)
	}
}

func awaitVoting(t *testing.T, p *integration.Proxy, all int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n, err := voting(p)
		if n == all {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d masters vote, %v", n, all, err)
		}
	}
}

func hostAndPort(t *testing.T, addr string) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return []string{host, port}
}

// voting counts the masters whose votes count, as INFO tells.
func voting(p *integration.Proxy) (int, error) {
	c, err := integration.Dial(p.Addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	reply, err := c.Do("INFO", "quorum")
	if err != nil {
		return 0, err
	}
	text, ok := reply.(string)
	if !ok {
		return 0, fmt.Errorf("INFO is answered %v", reply)
	}
	return strings.Count(text, "state=voting"), nil
}
