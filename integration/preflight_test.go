package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What can be no master is refused when the proxy starts, and what cures that is
// said, whether the masters are marked or not.
func TestProxyWillNotStartWithServersThatAreNoMasters(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 2)
	for name, c := range map[string]struct {
		args  []string
		third string // the address of the third master, if it is no server of its own
		wants []string
	}{
		"a replica":           {[]string{"--replicaof", "127.0.0.1 1"}, "", []string{"it is a replica of 127.0.0.1:1", "REPLICAOF NO ONE"}},
		"a cluster node":      {[]string{"--cluster-enabled", "yes"}, "", []string{"it is a cluster node", "cluster-enabled no"}},
		"one that evicts":     {[]string{"--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"}, "", []string{"its maxmemory-policy is volatile-lru", "noeviction"}},
		"a server for itself": {nil, startRelay(t, masters[0].Addr).Addr, []string{"it is the same server as", "leave one of the two out"}},
	} {
		t.Run(name, func(t *testing.T) {
			third := c.third
			if third == "" {
				third = startMaster(t, RedisOptions{Args: c.args}).Addr
			}
			args := append(flags(masters), "--master", third)
			for _, command := range [][]string{{"bootstrap"}, {"serve", "--listen", "127.0.0.1:0"}} {
				p, err := StartProxy(ProxyOptions{Path: program(t), Bare: true, Args: append(slices.Clone(command), args...)})
				must(t, err)
				code, err := p.Wait(patience)
				if err != nil || code != 1 {
					t.Errorf("%s ended with exit code %d, %v", command[0], code, err)
				}
				for _, want := range c.wants {
					if !strings.Contains(p.Log(), want) {
						t.Errorf("%s does not say %q:\n%s", command[0], want, p.Log())
					}
				}
			}
		})
	}
}

// A master that turns into a replica while the proxy runs stops voting, and says
// why; the proxy goes on with the others.
func TestMasterThatBecomesAReplicaStopsVoting(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	direct(t, masters[0]).want("OK", "REPLICAOF", "127.0.0.1", "1")
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "t", "NX", "PX", milliseconds(ttl)) // tells the proxy
	eventually(t, func() error { return told(c, "it is a replica of 127.0.0.1:1") })
	direct(t, masters[0]).want("OK", "REPLICAOF", "NO", "ONE")
	awaitVoting(t, p, 3)
}

// told is an error unless the section quorum of INFO holds a text.
func told(c talk, text string) error {
	if info := c.text("INFO", "quorum"); !strings.Contains(info, text) {
		return fmt.Errorf("INFO does not say %q:\n%s", text, info)
	}
	return nil
}
