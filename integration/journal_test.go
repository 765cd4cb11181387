package integration

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// What a lock script has no use for is refused, and leaves nothing behind.
func TestScriptThatIsForNoLockIsRefusedAndUndone(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, script := range []string{
		"redis.call('set', KEYS[1], 'v') return redis.call('blpop', KEYS[2], 0)",
		"redis.call('set', KEYS[1], 'v') return redis.call('get', 'not:declared')",
		"redis.call('set', KEYS[1], 'v') return redis.call('flushall')",
		"redis.call('set', KEYS[1], 'v') return redis.pcall('xadd', KEYS[2], '*', 'a', 'b')",
		"redis.call('hset', KEYS[1], 'a', 'b') return redis.call('keys', '*')",
		"redis.call('set', KEYS[1], 'v') return redis.call('select', 5)",
		"redis.pcall('select', '0') return redis.call('set', KEYS[1], 'v')",
		"KEYS[1] = 'not:declared' return redis.call('set', KEYS[1], 'v')",
		"redis.call('set', KEYS[1], 'v') KEYS[2] = 'not:declared' return redis.call('set', KEYS[2], 'v')",
	} {
		got := fmt.Sprint(c.do("EVAL", script, "2", "no:a", "no:b"))
		if !strings.HasPrefix(got, "ERR ") || strings.Contains(got, "unknown command") || strings.Contains(got, "syntax error") {
			t.Errorf("%q is answered %q", script, got)
		}
		wantGone(t, masters, "no:a")
		wantGone(t, masters, "no:b")
		wantGone(t, masters, "not:declared")
	}
	// Nothing of the real Redis can be reached round the shadow of it.
	for _, script := range []string{
		"return _G.redis.call('set', KEYS[1], 'v')",
		"redis.call = nil return redis.call('set', KEYS[1], 'v')",
		"redis.pcall = nil return redis.pcall('set', 'no:a', 'v')",
		"redis.call = nil pcall(redis.call, 'set', 'no:a', 'v') error('ended')",
		"return getfenv(0).redis.call('set', KEYS[1], 'v')",
		"return loadstring(\"return redis.call('set', 'no:a', 'v')\")()",
		"end) redis.call('set', 'no:a', 'v') (function()",
		"return 1 end)(), redis.call('set', 'no:a', 'v'), (function() return 1",
	} {
		if got := fmt.Sprint(c.do("EVAL", script, "1", "no:a")); !strings.HasPrefix(got, "ERR ") {
			t.Errorf("%q is answered %q", script, got)
		}
		wantGone(t, masters, "no:a")
	}
}

// A number is a key by how it is spelled, which masters do not agree on for each: before 7.2,
// 1e17 is 1e+17. Some other key would be that which a script was given.
func TestNumberThatIsAKeyIsOneToAllMasters(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for number, keys := range map[string][]string{
		"1e17": {"1e+17", "100000000000000000"}, "-1e18": {"-1e+18", "-1000000000000000000"}, "-zero": {"-0", "0"}, "0.1": {"0.10000000000000001", "0.1"}, "0/0": {"-nan", "nan"},
	} {
		for _, command := range []string{"'del', KEYS[1], n", "'unlink', KEYS[1], n", "'exists', KEYS[1], n", "'mset', KEYS[1], 1, n, 2", "'msetnx', KEYS[1], 1, n, 2"} {
			for i := range keys {
				given, other := keys[i], keys[1-i]
				c.want("OK", "SET", other, "x")
				text := "local zero = 0 local n = " + number + " return redis.call(" + command + ")"
				if got := fmt.Sprint(c.do("EVAL", text, "2", "k", given)); !strings.HasPrefix(got, "ERR the script ") {
					t.Errorf("%s with the key %s is answered %s", text, given, got)
				}
				c.want("x", "GET", other)
				c.do("DEL", other)
			}
		}
	}
	c.want("OK", "EVAL", "return redis.call('mset', KEYS[1], 1, 9007199254740992, 2, -7, 3)", "3", "k", "9007199254740992", "-7")
	c.want(3, "EVAL", "return redis.call('del', KEYS[1], 9007199254740992, -7)", "3", "k", "9007199254740992", "-7")
}

// A script that acted on a minority while the others declined is put back there,
// and the answer is that of those who declined.
func TestJournaledScriptThatLostIsPutBack(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	try := corpus(t, "redisson-tryLock")
	// The lock is somebody's on two masters; the third has forgotten it, and
	// holds nothing or an older state of the same client's.
	for _, before := range [][]string{nil, {"HSET", "back", "me:1", "1"}} {
		for _, m := range masters {
			ask(t, m, "DEL", "back")
		}
		for _, m := range masters[:2] {
			ask(t, m, "HSET", "back", "other:1", "1")
			ask(t, m, "PEXPIRE", "back", "20000")
		}
		if before != nil {
			ask(t, masters[2], before...)
			ask(t, masters[2], "PEXPIRE", "back", "10000")
		}
		got := c.do("EVAL", try, "1", "back", "30000", "me:1")
		if left, ok := got.(int64); !ok || left < 15_000 || left > 20_000 {
			t.Errorf("the loser is told %v", got)
		}
		eventually(t, func() error {
			got := fmt.Sprint(ask(t, masters[2], "HGETALL", "back"))
			left := ask(t, masters[2], "PTTL", "back").(int64)
			if before == nil && got != "[]" || before != nil && (got != "[me:1 1]" || left > 10_000 || left < 5_000) {
				return fmt.Errorf("the third master holds %v for %d ms", got, left)
			}
			return nil
		})
	}
}

// A SET NX that is refused within a script has written nothing: the holder's key
// is not touched, and what is counted is a no.
func TestRefusedScriptTouchesNothing(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.lock("held", "holder", time.Minute)
	var restored []func() int
	for _, m := range masters {
		restored = append(restored, callsOn(t, m, "RESTORE", "held"))
	}
	for range 1500 {
		c.send("EVAL", "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 30000)", "1", "held", "t")
	}
	for range 1500 {
		c.receive(nil)
	}
	for i := range masters {
		if n := restored[i](); n != 0 {
			t.Errorf("a master saw %d RESTOREs", n)
		}
	}
	wantHolding(t, masters, "held", "holder", 0, 1, 2)
}

func TestScriptIsBoundedInWhatItWritesAndPublishes(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, script := range []string{
		"for i = 1, 600 do redis.call('PUBLISH', 'c', 'm') end return 1",
		"for i = 1, #KEYS do redis.call('SET', KEYS[i], 'v') end return 1",
	} {
		args := []string{"EVAL", script, "600"}
		for i := range 600 {
			args = append(args, fmt.Sprint("many:", i))
		}
		if got := fmt.Sprint(c.do(args...)); !strings.HasPrefix(got, "ERR the script ") {
			t.Errorf("%q is answered %q", script, got)
		}
		wantGone(t, masters, "many:0")
	}
	long := strings.Repeat("c", 1025)
	if got := fmt.Sprint(c.do("EVAL", "redis.call('SET', KEYS[1], 'v') return redis.call('PUBLISH', ARGV[1], 'm')", "1", "k", long)); !strings.HasPrefix(got, "ERR the name of a channel or a pattern is longer than 1024 bytes") {
		t.Errorf("a channel of %d bytes is answered %.200q", len(long), got)
	}
	c.want(int64(0), "EVAL", "return redis.call('PUBLISH', ARGV[1], 'm')", "1", "k", long[1:])
	if n := voting(t, p); n != 3 {
		t.Errorf("%d masters are voting", n)
	}
}

// As a semaphore does that tells how many permits are free.
func TestNumberThatAScriptPublishesArrivesAsItsText(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	h := hears(t, p, "free")
	awaitSubscriptions(t, p, 3)
	dial(t, p.Addr).want("OK", "EVAL", "redis.call('publish', KEYS[1], 5) redis.call('publish', KEYS[1], 2^53) return redis.status_reply('OK')", "1", "free")
	h.wantMessage("free", "5")
	h.wantMessage("free", "9007199254740992")
	h.wantNoMessage()
}

func TestScriptThatWroteMayAnswerWhatNoIntegerCanHold(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	dial(t, p.Addr).want(math.MinInt64, "EVAL", "redis.call('set', KEYS[1], 'v', 'px', 60000) return 1/0", "1", "k")
	wantHolding(t, masters, "k", "v", 0, 1, 2)
}

func TestReadOnlyScriptsWriteNothing(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	c.want("OK", "SET", "k", "t", "PX", milliseconds(ttl))
	for _, call := range [][]string{
		{"EVAL_RO", "return redis.call('del', KEYS[1])", "1", "k"},
		{"EVAL_RO", "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end", "1", "k", "t"},
		{"EVALSHA_RO", c.text("SCRIPT", "LOAD", "return redis.call('pexpire', KEYS[1], 1)"), "1", "k"},
	} {
		if got := fmt.Sprint(c.do(call...)); !strings.HasPrefix(got, "ERR Write commands are not allowed from read-only scripts") {
			t.Errorf("%q is answered %q", call, got)
		}
	}
	wantHolding(t, masters, "k", "t", 0, 1, 2)
}
