package journal

import (
	"fmt"
	"strings"
	"testing"

	"redlock-proxy/quorum"
)

// runs has a master run a client's script, and answers what it said.
func runs(do func(args ...string) string, s *quorum.Script, keys []string, args ...string) string {
	call := append([]string{"EVAL", FormOf(s).Own().Text, "0"}, keys...)
	call[2] = string(rune('0' + len(keys)))
	call = append(call, "1", "0")
	return do(append(append(call, args...), NoDate)...)
}

func TestScriptReachesKeysOfATagThatItWasGiven(t *testing.T) {
	do := redis(t)
	sets := quorum.NewPrinted(quorum.Printed{Body: "return __h.redis_call('SET', ARGV[1], 'v')", Helpers: []string{"redis_call"}, Bounds: quorum.DefaultBounds})
	for _, c := range []struct {
		given, key string
	}{
		{"k", "{k}"}, {"k", "{k}:x"}, {"{k}", "k"}, {"a{k}", "b{k}c"}, {"{k}", "k{k}{j}"}, {"{{k}}", "{k"}, {"{{k}}", "x{{k}"},
		{"k", "k:x"}, {"k", "{K}"}, {"", "x"}, {"", "{}"}, {"{}", "{}x"}, {"{}", ""}, {"a{}b{c}", "{c}"}, {"a{}b{c}", "{a{}b{c}}"},
		{"{", "{x"}, {"{k", "k"}, {"}{k", "k"}, {"x}{k}", "k"}, {"{k}", "{j}{k}"}, {"{\x00}", "\x00"}, {"\x00{k\x00}", "k\x00"},
	} {
		do("FLUSHALL")
		mate := quorum.Tag(c.given) == quorum.Tag(c.key)
		said := runs(do, sets, []string{"other", c.given}, c.key)
		refusal := "ERR the script uses the key '" + strings.ReplaceAll(c.key, "\x00", "?") + "', which it was not given: give it in KEYS, or give it the hash tag of one that is there"
		if there := do("EXISTS", c.key); there == "1" != mate || strings.Contains(said, refusal) == mate {
			t.Errorf("given %q: %q is there: %s, and it said %q", c.given, c.key, there, said)
		}
		if mate && !strings.HasPrefix(said, "[129 ") {
			t.Errorf("given %q: that it has reached %q it does not tell, by %q", c.given, c.key, said)
		}
		if said := runs(do, sets.Confined(), []string{"other", c.given}, c.key); !strings.HasSuffix(said, "which it was not given: give it in KEYS, since its user may not use all keys]") {
			t.Errorf("confined, and given %q, it said %q of %q", c.given, said, c.key)
		}
		if said := runs(do, sets.ReadOnly(), []string{c.given}, c.key); !strings.Contains(said, "Write commands are not allowed") {
			t.Errorf("that may only read said %q", said)
		}
	}
	if said := runs(do, sets, nil, "x"); !strings.Contains(said, "which it was not given") {
		t.Errorf("given nothing, it said %q", said)
	}
}

// Whatever has their tag, the proxy's own keys are not reached, and a name is told on one line.
func TestScriptReachesNoKeyOfTheProxys(t *testing.T) {
	do := redis(t)
	reads := quorum.NewPrinted(quorum.Printed{Body: "return __h.redis_pcall('GET', ARGV[1])", Helpers: []string{"redis_pcall"}, Bounds: quorum.DefaultBounds})
	for _, given := range []string{"marker", "{marker}", "latch", "x{latch}"} {
		for _, key := range []string{quorum.MarkerKey, Latch(given), quorum.PrivateKeys + quorum.Tag(given) + "}"} {
			do("SET", key, "secret")
			if said := runs(do, reads, []string{given}, key); !strings.Contains(said, "keys that begin with redlock-proxy:{ are the proxy's own") || strings.Contains(said, "secret") {
				t.Errorf("given %q, it said %q of %q", given, said, key)
			}
		}
	}
	if said := runs(do, reads, []string{"k"}, "a\r\n"+strings.Repeat("b", 1000)); !strings.Contains(said, "the key 'a??"+strings.Repeat("b", 125)+"...', which") {
		t.Errorf("it said %.300q", said)
	}
	if said := runs(do, reads, []string{"k"}, "{k}"+strings.Repeat("b", 70000)); !strings.Contains(said, "the name of a key is longer than 65536 bytes") {
		t.Errorf("it said %.300q", said)
	}
}

// Where a script is refused, nothing is left of what it did to keys that it was not given, either.
func TestRefusedScriptLeavesNoKeyBehindThatItReached(t *testing.T) {
	do := redis(t)
	do("SET", "{k}:old", "was", "PX", "60000")
	do("HSET", "{k}:hash", "f", "1")
	s := quorum.NewPrinted(quorum.Printed{Body: `__h.redis_call('SET', '{k}:old', 'is') __h.redis_call('SET', '{k}:new', 'is')
__h.redis_call('DEL', '{k}:hash') __h.redis_call('SET', KEYS[1], 'is') __h.redis_pcall('SET', 'foreign', 'is') return 1`,
		Helpers: []string{"redis_call", "redis_pcall"}, Bounds: quorum.DefaultBounds})
	if said := runs(do, s, []string{"k"}); !strings.Contains(said, "the key 'foreign', which it was not given") {
		t.Errorf("it said %q", said)
	}
	if got := do("MGET", "{k}:old", "{k}:new", "k", "foreign"); got != fmt.Sprint([]any{"was", nil, nil, nil}) {
		t.Errorf("it has left %s", got)
	}
	if got := do("HGET", "{k}:hash", "f"); got != "1" || do("PTTL", "{k}:old") < "50000" {
		t.Errorf("it has left %s", got)
	}
}

// Steps on keys of one tag keep out of each other's way, by one latch.
func TestStepsOnKeysOfOneTagHaveOneLatch(t *testing.T) {
	do := redis(t)
	step := quorum.NewStep("return redis.call('INCR', KEYS[1])")
	const me, other = "0123456789abcdef:1", "fedcba9876543210:7"
	on := func(key, holder string) string {
		return do("EVAL", FormOf(step).Own().Text, "2", key, "x{"+key+"}", "1", "0", holder, "60000", NoDate)
	}
	for _, c := range []struct{ key, mate string }{{"k", "a{k}b"}, {"{t}:a", "{t}:b"}, {"k", "k2"}} {
		do("FLUSHALL")
		if said := on(c.key, me); !strings.HasPrefix(said, "[785 ") || do("GET", Latch(c.key)) != me {
			t.Errorf("a step on %s said %s, and its latch is %s", c.key, said, do("GET", Latch(c.key)))
		}
		if mates := quorum.Tag(c.key) == quorum.Tag(c.mate); strings.HasPrefix(on(c.mate, other), "[8 ") != mates {
			t.Errorf("a step on %s does not keep out one on %s: %v", c.key, c.mate, mates)
		}
		if said := on(c.key, me[:17]+"2"); !strings.HasPrefix(said, "[785 ") {
			t.Errorf("the next step of the same proxy said %s", said)
		}
	}
}
