package integration

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// step is one call of a script, or a wait.
type step struct {
	script string // a file of the corpus, or a text
	keys   []string
	args   []string
	wait   time.Duration
	ttl    bool // the reply is what is left of a ttl
}

func corpus(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../commands/testdata/scripts/" + name + ".lua")
	if os.IsNotExist(err) {
		return name
	}
	must(t, err)
	return string(b)
}

func k(keys ...string) []string { return keys }

// The scripts that lock libraries send, which are neither a compare-and-delete
// nor a compare-and-expire: one real Redis and the proxy answer the same, call
// by call, and leave the same behind.
var journaledCalls = []struct {
	name  string
	steps []step
}{
	{"node-redlock on two keys", []step{
		{script: "node-redlock-5-acquire", keys: k("n:a", "n:b"), args: k("t1", "30000")},
		{script: "node-redlock-5-acquire", keys: k("n:b", "n:c"), args: k("t2", "30000")},
		{script: "node-redlock-5-extend", keys: k("n:a", "n:b"), args: k("t1", "60000")},
		{script: "node-redlock-5-extend", keys: k("n:a", "n:b"), args: k("t2", "60000")},
		{script: "node-redlock-5-release", keys: k("n:a", "n:b"), args: k("t1")},
		{script: "node-redlock-5-release", keys: k("n:a", "n:b"), args: k("t1")},
		{script: "node-redlock-5-acquire", keys: k("n:b", "n:c"), args: k("t2", "30000")},
	}},
	{"Redisson's tryLock, reentrant", []step{
		{script: "redisson-tryLock", keys: k("r:a"), args: k("30000", "me:1")},
		{script: "redisson-tryLock", keys: k("r:a"), args: k("30000", "me:1")},
		{script: "redisson-tryLock", keys: k("r:a"), args: k("30000", "you:1"), ttl: true},
	}},
	{"bsm/redislock", []step{
		{script: "bsm-0.9-obtain", keys: k("b:a"), args: k("token1meta", "6", "30000")},
		{script: "bsm-0.9-obtain", keys: k("b:a"), args: k("token2meta", "6", "30000")},
		{script: "bsm-0.9-obtain", keys: k("b:a"), args: k("token1other", "6", "60000")},
		{script: "bsm-0.9-pttl", keys: k("b:a"), args: k("token1other"), ttl: true},
	}},
	{"acquire or refresh", []step{
		{script: "spring-obtain", keys: k("s:a"), args: k("me", "30000")},
		{script: "spring-obtain", keys: k("s:a"), args: k("me", "60000")},
		{script: "spring-obtain", keys: k("s:a"), args: k("you", "30000")},
		{script: "aioredlock-set", keys: k("s:b"), args: k("me", "30000")},
		{script: "aioredlock-set", keys: k("s:b"), args: k("you", "30000")},
		{script: "aioredlock-ttl", keys: k("s:b"), args: k("me"), ttl: true},
		{script: "redlock-rb-lock", keys: k("s:c"), args: k("me", "30000", "yes")},
		{script: "redlock-rb-lock", keys: k("s:c"), args: k("you", "30000", "yes")},
		{script: "redlock-rb-lock", keys: k("s:d"), args: k("me", "30000", "no")},
		{script: "redlock-net-extend", keys: k("s:e"), args: k("me", "30000")},
		{script: "redlock-net-extend", keys: k("s:e"), args: k("you", "30000")},
		{script: "go-zero-lock", keys: k("s:f"), args: k("me", "30000")},
		{script: "go-zero-lock", keys: k("s:f"), args: k("me", "30000")},
		{script: "go-zero-lock", keys: k("s:f"), args: k("you", "30000")},
		{script: "redsync-touch-setnx", keys: k("s:g"), args: k("me", "30000")},
		{script: "redsync-touch-setnx", keys: k("s:g"), args: k("you", "30000")},
	}},
	{"a sorted set, by the time of the server", []step{
		{script: "symfony-save", keys: k("z:a"), args: k("me", "NOW+30000")},
		{script: "symfony-save", keys: k("z:a"), args: k("you", "NOW+30000")},
		{script: "symfony-save", keys: k("z:b"), args: k("me", "NOW+1500")},
		{wait: 1600 * time.Millisecond},
		{script: "symfony-save", keys: k("z:b"), args: k("you", "NOW+30000")},
	}},
	{"every type of reply", []step{
		{script: "return 1"},
		{script: "return 'a'"},
		{script: "return {1,'a',{ok='fine'},false,{2,{3}},{err='MY error'}}"},
		{script: "return {ok='fine'}"},
		{script: "return redis.error_reply('MY error')"},
		{script: "return redis.status_reply('fine')"},
		{script: "return nil"},
		{script: "return true"},
		{script: "return false"},
		{script: "return 3.99"},
		{script: "return -3.99"},
		{script: "return {1,nil,3}"},
		{script: "return {}"},
		{script: "return ''"},
		{script: "return redis.sha1hex('a')"},
		{script: "redis.replicate_commands() redis.set_repl(redis.REPL_ALL) redis.log(redis.LOG_NOTICE, 'x') return 1"},
		{script: "return #KEYS + #ARGV", keys: k("e:a", "e:b"), args: k("x")},
		{script: "-- a comment at the end\nreturn 1 -- here"},
		{script: "return cjson.encode({1,2})"},
		{script: "local t = {} for i = 1, 3 do t[i] = i end return t"},
	}},
	{"commands", []step{
		{script: "return redis.call('set', KEYS[1], 'v', 'EX', 100, 'NX')", keys: k("c:a")},
		{script: "return redis.call('set', KEYS[1], 'v', 'PX', 100000, 'NX')", keys: k("c:a")},
		{script: "return redis.call('ttl', KEYS[1])", keys: k("c:a")},
		{script: "return redis.call('get', KEYS[1])", keys: k("c:a")},
		{script: "return redis.call('setex', KEYS[1], 50, 'w')", keys: k("c:a")},
		{script: "return redis.call('pttl', KEYS[1])", keys: k("c:a"), ttl: true},
		{script: "return redis.call('expire', KEYS[1], 80)", keys: k("c:a")},
		{script: "return redis.call('persist', KEYS[1])", keys: k("c:a")},
		{script: "return redis.call('ttl', KEYS[1])", keys: k("c:a")},
		{script: "return redis.call('del', KEYS[1], KEYS[2])", keys: k("c:a", "c:b")},
		{script: "return redis.call('exists', KEYS[1], KEYS[2])", keys: k("c:a", "c:b")},
		{script: "return redis.call(ARGV[1], KEYS[1], 'f', 'v')", keys: k("c:h"), args: k("HSET")},
		{script: "return redis.call('hgetall', KEYS[1])", keys: k("c:h")},
		{script: "return redis.call('hincrby', KEYS[1], 'n', 5)", keys: k("c:h")},
		{script: "return redis.call('hdel', KEYS[1], 'f', 'n')", keys: k("c:h")},
		{script: "return redis.call('sadd', KEYS[1], 'a', 'b')", keys: k("c:s")},
		{script: "return redis.call('scard', KEYS[1])", keys: k("c:s")},
		{script: "return redis.call('srem', KEYS[1], 'a')", keys: k("c:s")},
		{script: "return redis.call('msetnx', KEYS[1], '1', KEYS[2], '2')", keys: k("c:m1", "c:m2")},
		{script: "return redis.call('mget', KEYS[1], KEYS[2], KEYS[3])", keys: k("c:m1", "c:m2", "c:m3")},
		{script: "return redis.call('incr', KEYS[1])", keys: k("c:n")},
		{script: "return redis.call('getset', KEYS[1], 'new')", keys: k("c:m1")},
	}},
	{"errors", []step{
		{script: "redis.call('set', KEYS[1], 'v')\nreturn redis.call('hget', KEYS[1], 'f')", keys: k("x:a")},
		{script: "redis.call('set', KEYS[1], 'v')\n\nlocal v = redis.call('hget', KEYS[1], 'f')\nreturn v", keys: k("x:a")},
		{script: "local r = redis.pcall('hget', KEYS[1], 'f')\nreturn r['err'] and 'caught'", keys: k("x:a")},
		{script: "return redis.pcall('incr', KEYS[1])", keys: k("x:a")},
		{script: "local t\nreturn t.x"},
		{script: "error('mine')"},
		{script: "return redis.call('set', KEYS[1], 'v', 'PX', 0)", keys: k("x:a")},
		{script: "return redis.call('expire', KEYS[1], 'x')", keys: k("x:a")},
		{script: "return redis.call('get')"},
	}},
}

func TestJournaledScriptsAnswerAsOnOneRedis(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	one := startMaster(t, RedisOptions{Server: Installed})
	for _, c := range journaledCalls {
		t.Run(c.name, func(t *testing.T) {
			here, there := dial(t, p.Addr), dial(t, one.Addr)
			for i, s := range c.steps {
				if s.wait > 0 {
					time.Sleep(s.wait)
					continue
				}
				args := call(corpus(t, s.script), s.keys, s.args)
				want, got := there.do(args...), here.do(args...)
				if s.ttl {
					w, _ := want.(int64)
					g, _ := got.(int64)
					if w == 0 || g > w+50 || g < w-w/100-2000 {
						t.Fatalf("step %d: %v are left, on one Redis %v", i, got, want)
					}
				} else if !reflect.DeepEqual(got, want) {
					t.Fatalf("step %d: %q\nis answered %#v,\non one Redis %#v", i, s.script, got, want)
				}
				for _, key := range s.keys {
					sameThere(t, key, one, masters)
				}
			}
		})
	}
}

func call(text string, keys, args []string) []string {
	c := append([]string{"EVAL", text, strconv.Itoa(len(keys))}, keys...)
	for _, a := range args {
		if after, ok := strings.CutPrefix(a, "NOW+"); ok {
			n, _ := strconv.ParseInt(after, 10, 64)
			a = fmt.Sprint(time.Now().UnixMilli() + n)
		}
		c = append(c, a)
	}
	return c
}

// sameThere compares a key on the masters with the one on a single Redis. The
// masters' expiry is padded.
func sameThere(t *testing.T, key string, one *Redis, masters []*Redis) {
	t.Helper()
	for _, m := range masters {
		eventually(t, func() error {
			want := ask(t, one, "TYPE", key)
			left := ask(t, one, "PTTL", key).(int64)
			if got := ask(t, m, "TYPE", key); got != want {
				return fmt.Errorf("%s is of type %v on a master, %v on one Redis", key, got, want)
			}
			got := ask(t, m, "PTTL", key).(int64)
			if (left < 0) != (got < 0) || left > 0 && (got < left-1000 || got > left+left/100+1000) {
				return fmt.Errorf("%s has %d ms left on a master, %d on one Redis", key, got, left)
			}
			return nil
		})
	}
}

// What a lock script has no use for is refused, and leaves nothing behind.
func TestScriptThatIsForNoLockIsRefusedAndUndone(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, script := range []string{
		"redis.call('set', KEYS[1], 'v') return redis.call('lpush', KEYS[2], 'x')",
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
