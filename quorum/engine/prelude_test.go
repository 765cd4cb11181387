package engine

import (
	"fmt"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

func TestPreludeIsOneLineOfLua(t *testing.T) {
	lua := prelude.before + oursKnow + helpers.of(helpers.names) + helpers.all() + prelude.after + latchText
	if strings.ContainsAny(lua, "\n\r\t") || strings.Contains(lua, "--") {
		t.Error("the prelude has line ends or comments left in it")
	}
	if !strings.Contains(formOf(countStep).wrapped.Text, "(redis,KEYS,ARGV,__latch,") {
		t.Error("a step does not tell the prelude of its latch")
	}
	for _, text := range []string{preludeText, helpersText} {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "(") {
				t.Error("a statement begins with a parenthesis")
			}
		}
	}
}

// Nothing has a script's replies be RESP3's. Were there a way, what is in them would go uncounted.
func TestScriptIsGivenNoReplyThatIsNotCounted(t *testing.T) {
	real := bothSides(t)[0].(realSide)
	real.do("HSET", "h", "f", "v")
	real.do("SADD", "s", "m")
	real.do("ZADD", "z", "1", "m")
	for _, read := range []string{"'HGETALL','h'", "'SMEMBERS','s'", "'ZSCORE','z','m'", "'ZRANGE','z',0,-1,'WITHSCORES'", "'HGETALL','none'", "'TYPE','h'", "'HGET','h','f'"} {
		for _, version := range []string{"2", "3"} {
			p := quorum.NewPrinted(quorum.Printed{Body: "redis.setresp(" + version + ") local r=__h.redis_call(" + read + ") return 'given'", Helpers: []string{"redis_call"}, Bounds: quorum.DefaultBounds})
			want := "given"
			if version == "3" && !strings.Contains(read, "TYPE") && !strings.Contains(read, "HGET'") {
				want = "ERR the script is given a reply of a type that this proxy does not know"
			}
			if got := fmt.Sprint(real.run(formOf(p).itself(), []string{"h", "s", "z", "none"}, []string{"1", "0", noDate})); !strings.Contains(got, want) {
				t.Errorf("%s by RESP%s: %s, want %s", read, version, got, want)
			}
		}
	}
}
