package journal

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// A step tells for how long no more than steps have changed its keys, as long as it finds what the last one has left.
func TestStepTellsForHowLongItsKeysAreCalm(t *testing.T) {
	do := redis(t)
	count := quorum.NewStep("redis.call('INCR', KEYS[1]) return redis.call('PEXPIRE', KEYS[1], ARGV[1])")
	looks := quorum.NewStep("return redis.call('EXISTS', KEYS[1])")
	const long = 60
	long60 := func() { time.Sleep(long * time.Millisecond) }
	calm := func(s *quorum.Script) string {
		said := do("EVAL", FormOf(s).Own().Text, "1", strings.Repeat("k", 70), "1", "0", "50000", "", "0123456789abcdef:1", "60000", NoDate)
		said, _, _ = strings.Cut(said[strings.LastIndexByte(said, ' ')+1:], "/")
		if n, err := strconv.Atoi(strings.TrimPrefix(said, "-")); err != nil || n < long {
			return strings.TrimRight(said, "0123456789") + "0"
		}
		return strings.TrimRight(said, "0123456789") + "long"
	}
	key := strings.Repeat("k", 70)
	script := func(text string) func() {
		return func() {
			time.Sleep(long * time.Millisecond)
			do("EVAL", FormOf(quorum.NewScript(text)).Own().Text, "1", key, "1", "0", NoDate)
		}
	}
	for i, c := range []struct {
		meanwhile func()
		s         *quorum.Script
		want      string
	}{
		{func() { do("FLUSHALL") }, count, "-0"},
		{long60, count, "-long"},
		{long60, looks, "-long"},
		{func() { do("SET", key, "7", "PX", "50000") }, looks, "0"},
		{long60, count, "long"},
		{func() { do("PEXPIRE", key, "40000") }, looks, "0"},
		{long60, looks, "long"},
		{script("return redis.call('GET', KEYS[1]) == 'x' and redis.call('DEL', KEYS[1])"), looks, "0"},
		{script("return redis.call('INCR', KEYS[1])"), looks, "0"},
		{func() { do("DEL", key) }, looks, "-0"},
		{long60, looks, "-long"},
		{script("return redis.call('DEL', KEYS[1])"), looks, "-0"},
		{func() { do("HSET", key, "a", "1") }, looks, "0"},
		{long60, looks, "long"},
		{script("return redis.call('HDEL', KEYS[1], 'b')"), looks, "0"},
		{func() { do("DEL", key) }, looks, "-0"},
		{func() { do("DEL", quorum.StepsKey) }, looks, "-0"},
	} {
		c.meanwhile()
		if got := calm(c.s); got != c.want {
			t.Errorf("step %d says %s, want %s", i+1, got, c.want)
		}
	}
}

// So may one that it has reached, though it was not given that.
func TestKeyThatAScriptHasReachedIsNotCalm(t *testing.T) {
	do := redis(t)
	for what, keys := range map[string][]string{"KEYS[1]": {"{t}l"}, "ARGV[1]": {"{t}x"}} {
		do("DEL", quorum.StepsKey)
		do("HSET", quorum.StepsKey, "{t}l", "x", "{t}x", "x")
		s := quorum.NewPrinted(quorum.Printed{Body: "__h.redis_call('DEL', " + what + ") return 1", Helpers: []string{"redis_call"}, Bounds: quorum.DefaultBounds})
		said := runs(do, s, keys, "{t}l")
		if there := do("HEXISTS", quorum.StepsKey, "{t}l"); there != "0" {
			t.Errorf("%s: the script said %s, and what steps have left of the key is known yet", what, said)
		}
	}
}

// What is known of keys that steps have changed takes no more than so much.
func TestSoManyKeysAreKnownToBeCalm(t *testing.T) {
	do := redis(t)
	looks := quorum.NewStep("return redis.call('EXISTS', KEYS[1])")
	do("EVAL", "for i=1,4096 do redis.call('HSET', KEYS[1], i, i) end", "1", quorum.StepsKey)
	look := func(keys ...string) {
		do(slices.Concat([]string{"EVAL", FormOf(looks).Own().Text, strconv.Itoa(len(keys))}, keys, []string{"1", "0", "", "0123456789abcdef:1", "60000", NoDate})...)
		if n := do("HLEN", quorum.StepsKey); n != "4096" {
			t.Errorf("%s keys are known", n)
		}
	}
	look("k")
	look("{k}1", "{k}2", "{k}3", "{k}4", "{k}5", "{k}6", "{k}7")
}
