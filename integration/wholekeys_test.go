package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A key that is renamed or copied ends when it would have ended: on each master exactly, whatever
// was added there to what the client asked for.
func TestRenamedAndCopiedKeysKeepTheirTTL(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	ends := func(m *Redis, key string) time.Time {
		t.Helper()
		pair := ask(t, m, "EVAL", "local t = redis.call('TIME') return {t[1] * 1000 + math.floor(t[2] / 1000), redis.call('PTTL', KEYS[1])}", "1", key).([]any)
		return time.UnixMilli(pair[0].(int64) + pair[1].(int64))
	}
	c.want(int64(2), "HSET", "a", "f", "v", "g", "w")
	c.want(int64(1), "PEXPIRE", "a", "600000")
	var before []time.Time
	for _, m := range masters {
		eventually(t, func() error { // one of them may be late with it
			if left := pttl(t, m, "a"); left < time.Minute {
				return fmt.Errorf("a lives for %v", left)
			}
			return nil
		})
		before = append(before, ends(m, "a"))
	}
	c.want("OK", "SET", "c", "is replaced")
	c.want(int64(1), "COPY", "a", "b")
	c.want(int64(0), "COPY", "a", "c")
	c.want(int64(1), "COPY", "a", "c", "DB", "0", "REPLACE")
	c.want("OK", "RENAME", "c", "d")
	c.want(int64(1), "EVAL", "return redis.call('renamenx', KEYS[1], KEYS[2])", "2", "d", "e")
	c.want("OK", "MULTI")
	c.want("QUEUED", "COPY", "b", "f")
	c.want("QUEUED", "RENAME", "b", "g")
	c.want("QUEUED", "RENAMENX", "a", "g")
	c.want([]any{int64(1), "OK", int64(0)}, "EXEC")
	for i, m := range masters {
		for _, key := range []string{"a", "e", "f", "g"} {
			eventually(t, func() error {
				if apart := ends(m, key).Sub(before[i]).Abs(); apart > 3*time.Millisecond {
					return fmt.Errorf("on master %d %s ends %v from when it was to", i, key, apart)
				}
				return nil
			})
		}
		for _, key := range []string{"b", "c", "d"} {
			if there := ask(t, m, "EXISTS", key); there != int64(0) {
				t.Errorf("master %d still has %s", i, key)
			}
		}
	}
	c.want(Failure("ERR no such key"), "RENAME", "b", "a")
	c.want(Failure("ERR source and destination objects are the same"), "COPY", "a", "a")
	c.want("OK", "RENAME", "a", "a")
}

// What only a minority could rename, copy or take out of a key is there again, with its ttl.
func TestWhatAMinorityDidWithWholeKeysIsUndone(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c, m := dial(t, p.Addr), direct(t, masters[0])
	for i, try := range [][]string{
		{"RENAME", "a", "b"}, {"RENAMENX", "a", "b"}, {"COPY", "a", "b"}, {"COPY", "a", "c", "REPLACE"}, {"RENAME", "a", "c"}, {"SPOP", "a"}, {"ZMPOP", "2", "b", "z", "MAX", "COUNT", "9"}, {"ZPOPMIN", "z"},
	} {
		m.do("SADD", "a", "x", "y")
		m.do("ZADD", "z", "1", "x", "2", "y")
		m.do("PEXPIRE", "a", "600000")
		m.do("SET", "c", "other")
		want := map[string]any{"RENAME": Failure("ERR no such key"), "RENAMENX": Failure("ERR no such key"), "COPY": int64(0), "SPOP": nil, "ZPOPMIN": []any{}}[try[0]]
		c.want(want, try...)
		eventually(t, func() error {
			if left := pttl(t, masters[0], "a"); left < 500*time.Second || left > 600*time.Second {
				return fmt.Errorf("%d: after %q what is to be undone lives for %v", i, try, left)
			}
			if n, z, c, b := m.do("SCARD", "a"), m.do("ZCARD", "z"), m.do("GET", "c"), m.do("EXISTS", "b"); n != int64(2) || z != n || c != "other" || b != int64(0) {
				return fmt.Errorf("%d: after %q a has %v members, z %v, c is %v, and of b there are %v", i, try, n, z, c, b)
			}
			return nil
		})
	}
}

func TestBigKeysAreNeitherRenamedNorCopied(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, unhurried...)
	for _, m := range masters {
		ask(t, m, "SETRANGE", "big", "2200000", "x")
		ask(t, m, "SETRANGE", "half", "1500000", "x")
	}
	c := dial(t, p.Addr)
	refused := func(why string, args ...string) {
		t.Helper()
		if f, _ := c.do(args...).(Failure); !strings.Contains(string(f), why) {
			t.Errorf("%q is answered %v", args, f)
		}
	}
	const big = "the key takes more than 2 MiB, and can only be read and deleted"
	refused(big, "RENAME", "big", "b")
	refused(big, "COPY", "big", "b")
	refused(big, "COPY", "half", "big", "REPLACE")
	refused(big, "EVAL", "return redis.call('rename', KEYS[1], KEYS[2])", "2", "big", "b")
	c.want(int64(1), "COPY", "half", "b")
	refused("the keys that are written to take more than 2 MiB in all", "COPY", "half", "b", "REPLACE")
	refused("COPY to another database", "COPY", "half", "c", "DB", "1")
	refused("syntax error", "COPY", "half", "c", "DB", "1", "word")
	refused("COPY to another database", "EVAL", "return redis.call('copy', KEYS[1], KEYS[2], 'DB', 1)", "2", "half", "c")
	refused("the key 'c', which it was not given", "EVAL", "return redis.call('rename', KEYS[1], 'c')", "1", "half")
	refused("the key 'half', which it was not given", "EVAL", "return redis.call('copy', 'half', KEYS[1])", "1", "c")
	refused("NOSCRIPT", "EVALSHA", strings.Repeat("0", 40), "0")
}
