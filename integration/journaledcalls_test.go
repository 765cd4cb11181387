package integration

import (
	"fmt"
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
	{"Redisson's fair lock, whose waiters stand in a list", []step{
		{script: "redisson-fairTryLock", keys: k("f:a", "f:queue", "f:timeouts"), args: k("30000", "me:1", "300000", "NOW+0")},
		{script: "redisson-fairTryLock", keys: k("f:a", "f:queue", "f:timeouts"), args: k("30000", "me:1", "300000", "NOW+0")},
		{script: "redis.call('zadd', KEYS[3], ARGV[1], 'gone:1') return redis.call('rpush', KEYS[2], 'gone:1', 'you:1')", keys: k("f:a", "f:queue", "f:timeouts"), args: k("1")},
		{script: "redis.call('zadd', KEYS[3], ARGV[1], 'you:1') return redis.call('lrange', KEYS[2], 0, -1)", keys: k("f:a", "f:queue", "f:timeouts"), args: k("NOW+60000")},
		{script: "redisson-fairTryLock", keys: k("f:a", "f:queue", "f:timeouts"), args: k("30000", "you:1", "300000", "NOW+0"), ttl: true},
		{script: "return redis.call('lrange', KEYS[2], 0, -1)", keys: k("f:a", "f:queue")},
		{script: "redisson-fairUnlock", keys: k("f:a", "f:queue", "f:timeouts", "f:channel", "f:request:1"), args: k("0", "30000", "me:1", "NOW+0", "publish", "13500")},
		{script: "redisson-fairUnlock", keys: k("f:a", "f:queue", "f:timeouts", "f:channel", "f:request:2"), args: k("0", "30000", "me:1", "NOW+0", "publish", "13500")},
		{script: "redisson-fairTryLock", keys: k("f:a", "f:queue", "f:timeouts"), args: k("30000", "you:1", "300000", "NOW+0")},
		{script: "return {redis.call('hget', KEYS[1], 'you:1'), redis.call('llen', KEYS[2]), redis.call('zcard', KEYS[3])}", keys: k("f:a", "f:queue", "f:timeouts")},
	}},
	{"a list by which who waits is woken", []step{
		{script: "return redis.call('set', KEYS[1], ARGV[1], 'PX', 30000)", keys: k("p:a"), args: k("me")},
		{script: "python-redis-lock-unlock", keys: k("p:a", "p:signal"), args: k("you", "1000")},
		{script: "python-redis-lock-unlock", keys: k("p:a", "p:signal"), args: k("me", "60000")},
		{script: "return redis.call('lpop', KEYS[1])", keys: k("p:signal")},
		{script: "return redis.call('set', KEYS[1], ARGV[1])", keys: k("w:a"), args: k("me")},
		{script: "walrus-lock_release", keys: k("w:a", "w:event"), args: k("you")},
		{script: "walrus-lock_release", keys: k("w:a", "w:event"), args: k("me")},
		{script: "return redis.call('lrange', KEYS[1], 0, -1)", keys: k("w:event")},
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
	{"what few scripts call", []step{
		{script: "redis.call('hmset', KEYS[1], 'f', 'value') redis.call('sadd', KEYS[2], 1, 2) redis.call('zadd', KEYS[3], 1, 'a', 2, 'b')", keys: k("f:h", "f:s", "f:z")},
		{script: "return {redis.call('hstrlen', KEYS[1], 'f'), redis.call('hkeys', KEYS[1]), redis.call('hscan', KEYS[1], 0), redis.call('hscan', KEYS[1], '0', 'MATCH', '*l', 'COUNT', 5)}", keys: k("f:h")},
		{script: "return {redis.call('sscan', KEYS[1], 0, 'match', '*'), redis.call('smismember', KEYS[1], 1, 3), redis.call('object', 'encoding', KEYS[1]), redis.call('touch', KEYS[1], KEYS[1])}", keys: k("f:s")},
		{script: "return {redis.call('zscan', KEYS[1], 0), redis.call('zmscore', KEYS[1], 'a', 'c'), redis.call('zrank', KEYS[1], 'b'), redis.call('zrevrank', KEYS[1], 'c')}", keys: k("f:z")},
		{script: "return {redis.call('copy', KEYS[1], KEYS[2]), redis.call('copy', KEYS[1], KEYS[2]), redis.call('rename', KEYS[2], KEYS[3]), redis.call('renamenx', KEYS[3], KEYS[1])}", keys: k("f:h", "f:i", "f:j")},
		{script: "return {redis.call('exists', KEYS[1]), redis.call('hgetall', KEYS[2]), redis.call('pexpiretime', KEYS[2]), redis.call('expiretime', KEYS[1])}", keys: k("f:i", "f:j")},
		{script: "local all = {} for i = 1, 3 do all[i] = redis.call('spop', KEYS[1]) end return {#all, all[3], redis.call('exists', KEYS[1]), redis.call('spop', KEYS[1], 2), redis.call('srandmember', KEYS[1])}", keys: k("f:s")},
		{script: "return {redis.pcall('spop', KEYS[1]), redis.pcall('spop', KEYS[1], 'x'), redis.pcall('srandmember', KEYS[1], 1.5), redis.pcall('hscan', KEYS[1], 0)}", keys: k("f:z")},
		{script: "return {redis.pcall('zscan', KEYS[1], 'x'), redis.pcall('zscan', KEYS[1], 0, 'COUNT', 0), redis.pcall('zscan', KEYS[1], 0, 'COUNT'), redis.pcall('zscan', KEYS[1], 0, 'count', 'x')}", keys: k("f:z")},
		{script: "return {redis.pcall('rename', KEYS[1], KEYS[2]), redis.pcall('copy', KEYS[2], KEYS[2]), redis.pcall('copy', KEYS[2], KEYS[1], 'x'), redis.pcall('rename', KEYS[1])}", keys: k("f:none", "f:z")},
		{script: "return {redis.pcall('memory', 'usage', KEYS[1], 'samples', 'x'), redis.pcall('memory', 'usage', KEYS[1], 'x'), redis.pcall('memory', 'usage', KEYS[2]), redis.pcall('object', 'freq', KEYS[1])}", keys: k("f:z", "f:none")},
		{script: "return redis.call('rename', KEYS[1], KEYS[2])", keys: k("f:none", "f:z")},
		{script: "return redis.call('srandmember', KEYS[1], -2)", keys: k("f:z")},
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
