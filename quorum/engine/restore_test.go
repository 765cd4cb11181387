package engine

import (
	"strings"
	"testing"

	"redlock-proxy/quorum/master"
)

// What a master whose memory is full cannot read leaves what is there.
func TestWhatCannotBeRestoredLeavesWhatIsThere(t *testing.T) {
	redis := bothSides(t)[0].(realSide)
	dump := redis.dump("before")
	script := master.NewScript(restores + "local a=restore(KEYS[1],ARGV[1],ARGV[2]) return a.err or a.ok")
	for _, full := range []string{"0", "1"} {
		redis.do("CONFIG", "SET", "maxmemory", "0")
		redis.has(held{"k": {"the", life}})
		redis.do("CONFIG", "SET", "maxmemory", full)
		if says, _ := redis.run(script, []string{"k"}, []string{"30000", "no dump"}).(string); !strings.Contains(says, "DUMP payload") && !strings.Contains(says, "Bad data format") {
			t.Errorf("with maxmemory %s it says %q", full, says)
		}
		if v, _ := redis.holds("k"); v.value != "the" || v.left < life/2 {
			t.Errorf("with maxmemory %s there is %v", full, v)
		}
		if says := redis.run(script, []string{"k"}, []string{"30000", dump}); says != "OK" {
			t.Errorf("with maxmemory %s it says %v", full, says)
		}
		if v, _ := redis.holds("k"); v.value != "before" || v.left > life/2 {
			t.Errorf("with maxmemory %s there is %v", full, v)
		}
	}
}
