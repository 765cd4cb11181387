package integration

import (
	"fmt"
	"strings"
	"testing"
)

// TestMasterThatLostItsScriptsIsGivenThemAgain: its NOSCRIPT is not the
// client's business.
func TestMasterThatLostItsScriptsIsGivenThemAgain(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for i := range 10 {
		key := fmt.Sprint("k", i)
		c.lock(key, "t", ttl)
		wantHolding(t, masters, key, "t", 0, 1, 2)
		downs := strings.Count(p.Log(), "master is down")
		direct(t, masters[i%3]).want("OK", "SCRIPT", "FLUSH")
		c.want(1, extendArgs(key, "t", 2*ttl)...)
		eventually(t, func() error {
			if left := ask(t, masters[i%3], "PTTL", key).(int64); left <= (ttl + ttl/50).Milliseconds() {
				// Scripts that are lost again while they are given again end the connection, and
				// nothing else takes the extension with it.
				if now := strings.Count(p.Log(), "master is down"); now > downs {
					downs = now
					c.want(1, extendArgs(key, "t", 2*ttl)...)
				}
				return fmt.Errorf("master %d has %d ms left of %s", i%3, left, key)
			}
			return nil
		})
		direct(t, masters[i%3]).want("OK", "SCRIPT", "FLUSH")
		c.unlock(key, "t")
		wantGone(t, masters, key)
	}
	awaitVoting(t, p, 3)
}

// What a script sets no expiry with on one Redis is refused here, too, and what is longer than
// anybody waits is not cut to a moment.
func TestExpiriesInLuaAreThoseOfRedis(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3)
	one := direct(t, startMasters(t, 1)[0])
	c := dial(t, p.Addr)
	for _, text := range []string{
		"return redis.call('set', KEYS[1], 'v', 'EX', 10, 'PX', 20000)",
		"return redis.call('set', KEYS[1], 'v', 'PXAT', 9000000000000, 'EX', 20000)",
		"redis.call('set', KEYS[1], 'v') return redis.call('getex', KEYS[1], 'EX', 10, 'PX', 20000)",
		"redis.call('set', KEYS[1], 'v') return redis.call('expire', KEYS[1], ARGV[1], ARGV[2])",
		"redis.call('set', KEYS[1], 'v') return redis.call('expire', KEYS[1], 100, nil, 'NX')",
		"redis.call('set', KEYS[1], 'v') return redis.call('expire', KEYS[1], '9223372036854775807')",
		"return redis.call('set', KEYS[1], 'v', 'PX', '1e3')", "return redis.call('set', KEYS[1], 'v', 'PX', ' 10')", "return redis.call('psetex', KEYS[1], '010', 'v')",
		"return redis.call('set', KEYS[1], 'v', 'PX', 1e17)", "return redis.call('set', KEYS[1], 'v', 'EX', 1e17)", "return redis.call('set', KEYS[1], 'v', 'PXAT', 0)",
		"return redis.call('set', KEYS[1], 'v', 'EXAT', -10)", "redis.call('set', KEYS[1], 'v') return redis.call('getex', KEYS[1], 'PXAT', -1)",
		"redis.call('set', KEYS[1], 'v') return redis.call('pexpireat', KEYS[1], -1)", "redis.call('set', KEYS[1], 'v') return redis.call('pexpire', KEYS[1], 10.5)",
		"return redis.call('time', 'x')", "return redis.call('ping')", "return redis.call('ping', 'x')", "return redis.call('echo')",
		"if KEYS[2] then\nreturn redis.call('hget', 'x')\nend\nreturn redis.call('hget', KEYS[1])", "local a = 1\n\nreturn nosuch",
		"\nreturn tonumber()", "\n\nerror('x')", "\nlocal a = redis.call('nosuch')", "\nreturn string.rep({}, 3)", "\nreturn redis.pcall('hget', KEYS[1]).err",
		"return {ok = 'a\\0b'}", "return {err = 'a\\0b'}", "return {ok = 'a\\r\\n:1'}", "return {err = 'a\\r\\n:1'}",
	} {
		want, got := fmt.Sprint(one.do("EVAL", text, "1", "k", "100")), fmt.Sprint(c.do("EVAL", text, "1", "k", "100"))
		if got != want {
			t.Errorf("%q is answered %q, on one Redis %q", text, got, want)
		}
		if want, got := one.do("GET", "k"), c.do("GET", "k"); got != want {
			t.Errorf("%q leaves %v, on one Redis %v", text, got, want)
		}
		if want, got := one.do("PTTL", "k").(int64), c.do("PTTL", "k").(int64); (want < 0) != (got < 0) {
			t.Errorf("%q leaves a key with a ttl of %d, on one Redis %d", text, got, want)
		}
		one.do("DEL", "k")
		c.do("DEL", "k")
	}
	for _, text := range []string{
		"return redis.call('set', KEYS[1], 'v', 'px', 9300000000000)",
		"return redis.call('set', KEYS[1], 'v', 'px', '9100000000000000000')",
		"redis.call('set', KEYS[1], 'v') return redis.call('pexpire', KEYS[1], 18264104132484)",
	} {
		if got := fmt.Sprint(c.do("EVAL", text, "1", "k")); got != "OK" && got != "1" {
			t.Errorf("%q is answered %s", text, got)
		}
		if left := c.do("PTTL", "k").(int64); left < 6_000_000_000_000 {
			t.Errorf("%q leaves a ttl of %d ms", text, left)
		}
		c.do("DEL", "k")
	}
}
