package clients

import (
	"fmt"
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

// start is three masters and a proxy in front of them that end with the test.
// The proxy bears with a machine that does other things at the same time: the
// matrix is about what is decided and not about how long it takes.
func start(t *testing.T) ([]*integration.Redis, *integration.Proxy) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--acquire-timeout", "2s", "--master-timeout", "5s"}
	var masters []*integration.Redis
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
	p, err := integration.StartProxy(integration.ProxyOptions{Path: path, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if code, err := p.Terminate(time.Minute); err != nil || code != 0 {
			t.Errorf("the proxy ended with exit code %d, %v", code, err)
		}
		if t.Failed() {
			t.Logf("the proxy's log:\n%s", p.Log())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n, err := voting(p)
		if n == len(masters) {
			return masters, p
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d masters vote, %v", n, len(masters), err)
		}
	}
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
