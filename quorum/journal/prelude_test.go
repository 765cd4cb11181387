package journal

import (
	"fmt"
	"strings"
	"testing"

	"redlock-proxy/integration"
	"redlock-proxy/quorum"
)

// redis is what a real one answers.
func redis(t *testing.T) (do func(args ...string) string) {
	t.Helper()
	server, err := integration.StartRedis(integration.RedisOptions{Unix: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return func(args ...string) string {
		reply, err := c.Do(args...)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(reply)
	}
}

func TestPreludeIsOneLineOfLua(t *testing.T) {
	lua := prelude.before + oursKnow + helpers.of(helpers.names) + scriptsKnow() + prelude.after + latchText
	if strings.ContainsAny(lua, "\n\r\t") || strings.Contains(lua, "--") {
		t.Error("the prelude has line ends or comments left in it")
	}
	if !strings.Contains(FormOf(quorum.NewStep("return 1")).Own().Text, "(redis,KEYS,ARGV,__latch,") {
		t.Error("a step does not tell the prelude of its latch")
	}
	runner := quorum.NewRunner("return 1", quorum.DefaultBounds)
	if text := FormOf(runner).Own().Text; strings.Count(text, "\n") != constantLine-1 || FormOf(runner.ReadOnly()).Own().Text == text {
		t.Error("what runs clients' scripts is on a line that one of theirs may have, or is the same where it may not write")
	}
	for _, text := range []string{preludeText, helpersText, scriptsText} {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "(") {
				t.Error("a statement begins with a parenthesis")
			}
		}
	}
}

// Nothing has a script's replies be RESP3's. Were there a way, what is in them would go uncounted.
func TestScriptIsGivenNoReplyThatIsNotCounted(t *testing.T) {
	do := redis(t)
	do("HSET", "h", "f", "v")
	do("SADD", "s", "m")
	do("ZADD", "z", "1", "m")
	for _, read := range []string{"'HGETALL','h'", "'SMEMBERS','s'", "'ZSCORE','z','m'", "'ZRANGE','z',0,-1,'WITHSCORES'", "'HGETALL','none'", "'TYPE','h'", "'HGET','h','f'"} {
		for _, version := range []string{"2", "3"} {
			p := quorum.NewPrinted(quorum.Printed{Body: "redis.setresp(" + version + ") local r=__h.redis_call(" + read + ") return 'given'", Helpers: []string{"redis_call"}, Bounds: quorum.DefaultBounds})
			want := "given"
			if version == "3" && !strings.Contains(read, "TYPE") && !strings.Contains(read, "HGET'") {
				want = "ERR the script is given a reply of a type that this proxy does not know"
			}
			if got := do("EVAL", FormOf(p).Own().Text, "4", "h", "s", "z", "none", "1", "0", NoDate); !strings.Contains(got, want) {
				t.Errorf("%s by RESP%s: %s, want %s", read, version, got, want)
			}
		}
	}
}
