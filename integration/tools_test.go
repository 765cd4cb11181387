package integration

import (
	"fmt"
	"testing"

	"redlock-proxy/integration/transcript"
)

// TestOperatorsAreAnsweredAsByRedis holds what an operator says to a server with one real Redis,
// and with a proxy that allows it.
func TestOperatorsAreAnsweredAsByRedis(t *testing.T) {
	t.Parallel()
	files, err := transcript.Glob("testdata/operator/*.txt")
	must(t, err)
	t.Run("Redis", func(t *testing.T) {
		m := startMaster(t, RedisOptions{Server: Installed})
		for _, file := range files {
			converse(t, file, transcript.Redis, m.Addr, []*Redis{m}, nil)
		}
	})
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("proxy over %d", n), func(t *testing.T) {
			masters, p := startQuorum(t, n, "--user", "default on nopass ~* &* +@all")
			for _, file := range files {
				converse(t, file, transcript.Proxy, p.Addr, masters, nil)
			}
		})
	}
}
