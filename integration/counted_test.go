package integration

import (
	"fmt"
	"testing"
	"time"
)

// lasting is a ttl by one per cent of which masters hold a key longer than its client counts on it.
const lasting = 8 * time.Second

// TestKeyIsGoneWhenItsTTLIsOverAsItsClientCounts: the masters hold it a while longer. Who reads after that
// is told the same.
func TestKeyIsGoneWhenItsTTLIsOverAsItsClientCounts(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	px := milliseconds(lasting)
	c.want(int64(1), "HSET", "hash", "f", "v")
	c.want(int64(2), "RPUSH", "list", "a", "b")
	c.want(int64(1), "SADD", "set", "a")
	c.want(int64(1), "ZADD", "zset", "1", "a")
	asked := time.Now()
	c.want("OK", "SET", "k", "t", "NX", "PX", px)
	c.want("OK", "SET", "plain", "t", "PX", px)
	c.want("OK", "SET", "extended", "t", "NX", "PX", "60000")
	c.want(int64(1), extendArgs("extended", "t", lasting)...)
	for _, key := range []string{"hash", "list", "set", "zset"} {
		c.want(int64(1), "PEXPIRE", key, px)
	}
	c.want(int64(1), "EVAL", "redis.call('HSET', KEYS[1], 'n', 1) return redis.call('PEXPIRE', KEYS[1], ARGV[1])", "1", "script", px)
	c.want(int64(2), "HINCRBY", "script", "n", "1")
	told := time.Now()
	reads := []struct {
		command     []string
		there, gone any
	}{
		{[]string{"GET", "k"}, "t", nil},
		{[]string{"EXISTS", "k", "k", "hash"}, int64(3), int64(0)},
		{[]string{"TYPE", "k"}, "string", "none"},
		{[]string{"STRLEN", "k"}, int64(1), int64(0)},
		{[]string{"GETRANGE", "k", "0", "-1"}, "t", ""},
		{[]string{"GETEX", "k"}, "t", nil},
		{[]string{"TOUCH", "k"}, int64(1), int64(0)},
		{[]string{"MGET", "plain", "k"}, []any{"t", "t"}, []any{nil, nil}},
		{[]string{"GET", "plain"}, "t", nil},
		{[]string{"GET", "extended"}, "t", nil},
		{[]string{"HGET", "script", "n"}, "2", nil},
		{[]string{"TYPE", "hash"}, "hash", "none"},
		{[]string{"HGET", "hash", "f"}, "v", nil},
		{[]string{"HGETALL", "hash"}, []any{"f", "v"}, []any{}},
		{[]string{"HSCAN", "hash", "0"}, []any{"0", []any{"f", "v"}}, []any{"0", []any{}}},
		{[]string{"LRANGE", "list", "0", "-1"}, []any{"a", "b"}, []any{}},
		{[]string{"LLEN", "list"}, int64(2), int64(0)},
		{[]string{"SISMEMBER", "set", "a"}, int64(1), int64(0)},
		{[]string{"ZSCORE", "zset", "a"}, "1", nil},
		{[]string{"OBJECT", "REFCOUNT", "set"}, int64(1), nil},
	}
	for _, read := range reads {
		got := c.do(read.command...)
		if time.Since(asked) < lasting && fmt.Sprint(got) != fmt.Sprint(read.there) {
			t.Errorf("%v tells %v of what its client counts on", read.command, got)
		}
	}
	const late = 5 * time.Millisecond
	for _, key := range []string{"k", "extended", "hash", "plain", "script"} {
		begun := time.Since(told)
		left := time.Duration(c.integer("PTTL", key)) * time.Millisecond
		if least, most := lasting-time.Since(asked)-late, lasting-begun+late; left < least || left > most {
			t.Errorf("PTTL tells %v of %s, of which from %v to %v is left", left, key, least, most)
		}
	}
	time.Sleep(time.Until(told.Add(lasting + late)))
	for _, read := range reads {
		if got := c.do(read.command...); fmt.Sprint(got) != fmt.Sprint(read.gone) {
			t.Errorf("%v tells %v of what is over", read.command, got)
		}
	}
	for key, want := range map[string]int64{"k": -2, "extended": -2, "zset": -2, "script": -2} {
		c.want(want, "PTTL", key)
		c.want(want, "TTL", key)
		c.want(want, "PEXPIRETIME", key)
	}
	_, end := time.Now(), told.Add(lasting)
	t.Logf("%v after the end the masters hold %v", time.Since(end), ask(t, masters[0], "GET", "k"))
}

// TestKeyIsThereAsLongAsItsTTLIsNotOverElsewhere: what was done through another proxy is not known at this
// one, which then tells what masters say.
func TestKeyIsThereWhereItsTTLIsAnotherElsewhere(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	q := startProxy(t, flags(masters)...)
	here, elsewhere := dial(t, p.Addr), dial(t, q.Addr)
	here.want("OK", "SET", "k", "t", "NX", "PX", "1000")
	elsewhere.want(int64(1), extendArgs("k", "t", time.Minute)...)
	here.want("OK", "SET", "shorter", "t", "NX", "PX", "60000")
	elsewhere.want(int64(1), extendArgs("shorter", "t", 10*time.Second)...)
	time.Sleep(1005 * time.Millisecond)
	here.want("t", "GET", "k")
	here.want(int64(1), "EXISTS", "k")
	if left := here.integer("PTTL", "k"); left < 50_000 {
		t.Errorf("PTTL tells %d", left)
	}
	if left := here.integer("PTTL", "shorter"); left > 10_000 {
		t.Errorf("PTTL tells %d", left)
	}
}
