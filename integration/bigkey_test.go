package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What a write may have to be undone with goes through the proxy: of a big key that is much
// for the master and for all others.
func TestKeyThatIsBigCanOnlyBeDeleted(t *testing.T) {
	masters, p := startQuorum(t, 3, "--acquire-timeout", "20s", "--master-timeout", "20s")
	c := dial(t, p.Addr)
	refused := func(args ...string) {
		t.Helper()
		if f, _ := c.do(args...).(Failure); !strings.Contains(string(f), "the key takes more than 2 MiB, and can only be read and deleted") {
			t.Errorf("%.60q is answered %.100q", args, f)
		}
	}
	mib := strings.Repeat("a", 1<<20)
	for i := range 3 {
		c.want(int64((i+1)<<20), "EVAL", "return redis.call('append', KEYS[1], ARGV[1])", "1", "string", mib)
	}
	refused("EVAL", "return redis.call('append', KEYS[1], ARGV[1])", "1", "string", mib)
	refused("EXPIRE", "string", "60")
	refused("SET", "string", "v")
	c.want(int64(1), "DEL", "string")
	c.want("OK", "SET", "string", "v")

	random := make([]byte, 2<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for i := range 2 {
		c.want(int64(1), "HSET", "hash", fmt.Sprint(i), string(random[i<<20:(i+1)<<20]))
	}
	refused("HSET", "hash", "f", "v")
	refused("HINCRBY", "hash", "n", "1")
	refused("PEXPIRE", "hash", "60000")
	refused("EVAL", "return redis.call('hset', KEYS[1], 'f', 'v')", "1", "hash")
	c.want(int64(1), "DEL", "hash")

	// Of what is not even dumped, a master says how much memory it takes.
	for _, m := range masters {
		ask(t, m, "EVAL", "for i = 1, 200000 do redis.call('sadd', KEYS[1], 'member ' .. i) end", "1", "set")
	}
	refused("SADD", "set", "x")
	refused("EXPIRE", "set", "60")
	c.want(int64(200000), "SCARD", "set")
	c.want(int64(1), "DEL", "set")
}
