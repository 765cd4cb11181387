package integration

import (
	"strings"
	"testing"
	"time"
)

// What is undone where it stands ends when it did before, and not later by as long as the script took.
func TestRefusedScriptDoesNotProlongAKey(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, unhurried...)
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "v", "NX", "PX", "200000")
	wantHolding(t, masters, "k", "v", 0, 1, 2)
	end := func() int64 {
		const text = "local p, t = redis.call('PTTL', KEYS[1]), redis.call('TIME') return t[1] * 1000 + math.floor(t[2] / 1000) + p"
		end, _ := ask(t, masters[0], "EVAL", text, "1", "k").(int64)
		return end
	}
	for _, write := range []string{"redis.call('SET', KEYS[1], 'x')", "redis.call('PEXPIRE', KEYS[1], 1000)"} {
		began, before := time.Now(), end()
		for range 40 {
			reply := c.do("EVAL", write+" while true do redis.pcall('GET', KEYS[1]) end", "1", "k")
			if failure, ok := reply.(Failure); !ok || !strings.Contains(string(failure), "script-steps") {
				t.Fatalf("an endless script is answered with %v", reply)
			}
		}
		if later := end() - before; later > max(time.Since(began).Milliseconds()/8, 1) {
			t.Errorf("%s, undone 40 times in %v, has the key end %d ms later", write, time.Since(began), later)
		}
	}
	c.want("v", "GET", "k")
}
