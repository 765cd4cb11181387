package integration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// What a write may have to be undone with goes through the proxy: of a big key that is much
// for the master and for all others.
func TestKeyThatIsBigCanOnlyBeDeleted(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--acquire-timeout", "20s", "--master-timeout", "20s")
	c := dial(t, p.Addr)
	refused := func(args ...string) {
		t.Helper()
		if f, _ := c.do(args...).(Failure); !strings.Contains(string(f), "the key takes more than 2 MiB, and can only be read and deleted") {
			t.Errorf("%.60q is answered %.100q", args, f)
		}
	}
	mib := strings.Repeat("a", 1<<20)
	for i := range 2 {
		c.want(int64((i+1)<<20), "EVAL", "return redis.call('append', KEYS[1], ARGV[1])", "1", "string", mib)
	}
	if f, _ := c.do("EVAL", "return redis.call('append', KEYS[1], ARGV[1])", "1", "string", mib).(Failure); !strings.Contains(string(f), "or more than 4 with what would become of them") {
		t.Errorf("a string that grows beyond 2 MiB is answered %.100q", f)
	}
	for _, m := range masters {
		ask(t, m, "SETRANGE", "string", fmt.Sprint(3<<20-1), "a")
	}
	refused("EVAL", "return redis.call('append', KEYS[1], ARGV[1])", "1", "string", mib)
	refused("EXPIRE", "string", "60")
	refused("SET", "string", "v")
	c.want(int64(1), "DEL", "string")
	c.want("OK", "SET", "string", "v")

	random := make([]byte, 2<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for i := range 2 {
		c.want(int64(1), "HSET", "hash", fmt.Sprint(i), string(random[i<<20:(i+1)<<20]))
	}
	refused("HSET", "hash", "f", "v")
	refused("HINCRBY", "hash", "n", "1")
	refused("PEXPIRE", "hash", "60000")
	refused("EVAL", "return redis.call('hset', KEYS[1], 'f', 'v')", "1", "hash")
	c.want(int64(1), "DEL", "hash")

	// Of what is not even dumped, a master says how much memory it takes.
	for _, m := range masters {
		ask(t, m, "EVAL", "for i = 1, 200000 do redis.call('sadd', KEYS[1], 'member ' .. i) end", "1", "set")
	}
	refused("SADD", "set", "x")
	refused("EXPIRE", "set", "60")
	c.want(int64(200000), "SCARD", "set")
	c.want(int64(1), "DEL", "set")
}

// The few elements by which a master estimates what a key takes may be unlike all others: of a
// sorted set they are those of the lowest scores.
func TestKeyOfWhichAFewElementsAreLongIsNotTakenForABigOne(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--acquire-timeout", "20s", "--master-timeout", "20s")
	const long, short = 5, 500
	for _, m := range masters {
		ask(t, m, "EVAL", `for i = 1, ARGV[1] do redis.call('zadd', KEYS[1], i, string.rep('x', 6000)..i) end
for i = 1, ARGV[2] do redis.call('zadd', KEYS[1], 1000, 'm'..i) end`, "1", "waiters", fmt.Sprint(long), fmt.Sprint(short))
		if estimate, _ := ask(t, m, "MEMORY", "USAGE", "waiters").(int64); estimate <= 2<<20 {
			t.Fatalf("the master estimates %d bytes", estimate)
		}
	}
	c := dial(t, p.Addr)
	c.want(int64(1), "ZADD", "waiters", "1000", "another")
	c.want(int64(1), "EVAL", "return redis.call('zrem', KEYS[1], ARGV[1])", "1", "waiters", "another")
	c.want(int64(1), "EXPIRE", "waiters", "100")
	c.want("OK", "WATCH", "waiters")
	c.want("OK", "MULTI")
	c.want("QUEUED", "ZREM", "waiters", "m1")
	c.want([]any{int64(1)}, "EXEC")
}

// carriedOut is how often a master has carried out a command since its statistics were reset.
func carriedOut(t *testing.T, m *Redis, name string) int {
	t.Helper()
	stats, _ := ask(t, m, "INFO", "commandstats").(string)
	_, line, ok := strings.Cut(stats, "cmdstat_"+name+":calls=")
	if !ok {
		return 0
	}
	n, _, _ := strings.Cut(line, ",")
	count, err := strconv.Atoi(n)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// leastCarriedOut is how often each of the masters has done so at least: one that answers late
// has more to do, since the others have decided.
func leastCarriedOut(t *testing.T, masters []*Redis, name string) int {
	t.Helper()
	least := math.MaxInt
	for _, m := range masters {
		least = min(least, carriedOut(t, m, name))
	}
	return least
}

// bigCollections are on all masters, each of which has put them together in another order.
func bigCollections(t *testing.T, masters []*Redis) {
	t.Helper()
	for i, m := range masters {
		ask(t, m, "EVAL", `for n = 1, 10000 do
local i = (n * 7 + ARGV[1]) % 10000
redis.call('sadd', 'set', 'm' .. i) redis.call('hset', 'hash', 'f' .. i, i) redis.call('zadd', 'zset', i, 'm' .. i)
if i < 500 then redis.call('sadd', 'small set', 'm' .. i) end
if i < 250 then redis.call('hset', 'small hash', 'f' .. i, i) end end
redis.call('hset', 'values', 'f', string.rep('v', 100000))`, "0", strconv.Itoa(i*1000))
		ask(t, m, "CONFIG", "RESETSTAT")
	}
}

// Our own scripts have no steps that are counted: they look how much there is before they read.
func TestWhatIsTooLargeIsRefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	bigCollections(t, masters)
	c := dial(t, p.Addr)
	refused := func(text string, args ...string) {
		t.Helper()
		if f, _ := c.do(args...).(Failure); !strings.Contains(string(f), text) {
			t.Errorf("%.60q is answered %.100q", args, f)
		}
	}
	const tooLarge = "the reply of the script is too large"
	values := []string{"HMGET", "values"}
	for range 100 {
		values = append(values, "f")
	}
	for _, args := range [][]string{
		{"SMEMBERS", "set"}, {"HGETALL", "hash"}, {"ZRANGE", "zset", "0", "-1"}, {"ZRANGE", "zset", "1", "251", "WITHSCORES"},
		{"ZRANGE", "zset", "-inf", "+inf", "BYSCORE"}, values,
	} {
		refused(tooLarge, args...)
		c.want("OK", "MULTI")
		c.want("QUEUED", args...)
		c.want("QUEUED", "INCR", "n")
		refused(tooLarge, "EXEC")
	}
	for _, key := range []string{"set", "hash", "zset"} {
		refused("what is watched has more than 1000 fields, elements and members in all", "WATCH", key)
		c.want("OK", "UNWATCH")
	}
	for _, m := range masters {
		for _, name := range []string{"smembers", "hgetall", "zrange", "hmget"} {
			if n := carriedOut(t, m, name); n != 0 {
				t.Errorf("a master has carried out %s %d times", name, n)
			}
		}
	}
	if n, _ := c.do("GET", "n").(string); n != "" {
		t.Errorf("a transaction that was refused has counted to %q", n)
	}

	// What is little enough is read, and in one order, though each master has its own.
	if r, _ := c.do("SMEMBERS", "small set").([]any); len(r) != 500 || r[0] != "m0" || r[499] != "m99" {
		t.Errorf("%.100q", r)
	}
	if r, _ := c.do("HGETALL", "small hash").([]any); len(r) != 500 || r[2] != "f1" || r[3] != "1" || r[498] != "f99" || r[499] != "99" {
		t.Errorf("%.100q", r)
	}
	if r, _ := c.do("ZRANGE", "zset", "(100", "+inf", "BYSCORE", "LIMIT", "300", "400").([]any); len(r) != 400 || r[0] != "m401" {
		t.Errorf("%.100q", r)
	}
}

// Masters digest what is watched each in an order of its own, and yet alike.
func TestWatchSeesThatAMemberHasChanged(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	bigCollections(t, masters)
	c, other := dial(t, p.Addr), dial(t, p.Addr)
	exec := func() any {
		c.want("OK", "MULTI")
		c.want("QUEUED", "INCR", "n")
		c.want("QUEUED", "SCARD", "small set")
		return c.do("EXEC")
	}
	for _, change := range [][]string{{"SREM", "small set", "m7"}, {"HSET", "small hash", "f7", "8"}, nil} {
		c.want("OK", "WATCH", "small set", "small hash")
		if change != nil {
			other.do(change...)
		}
		if r := exec(); (r == nil) != (change != nil) {
			t.Errorf("after %q EXEC is answered %q", change, r)
		}
	}
}

// What a step writes to is dumped before and after. So it is refused by what that would be.
func TestWhatAStepWritesToIsDumpedOnlyIfItIsLittle(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3, "--acquire-timeout", "20s", "--master-timeout", "20s")
	mib := strings.Repeat("v", 1<<20-1000)
	const keys = 60
	for _, m := range masters {
		for i := range keys {
			ask(t, m, "SET", fmt.Sprint("k", i), mib)
		}
		// A few of its elements tell nothing of what it takes.
		ask(t, m, "EVAL", `for i = 1, 3000 do redis.call('hset', KEYS[1], i, i) end
for i = 1, 20 do redis.call('hset', KEYS[1], 'long ' .. i, ARGV[1]) end`, "1", "hash", mib)
		ask(t, m, "CONFIG", "RESETSTAT")
	}
	c := dial(t, p.Addr)
	refused := func(text string, args ...string) {
		t.Helper()
		if f, _ := c.do(args...).(Failure); !strings.Contains(string(f), text) {
			t.Errorf("%.60q is answered %.100q", args, f)
		}
	}
	const tooMuch = "the keys that are written to take more than 2 MiB in all, or more than 4 with what would become of them"
	c.want("OK", "MULTI")
	for i := range keys {
		c.want("QUEUED", "EXPIRE", fmt.Sprint("k", i), "1000")
	}
	refused(tooMuch, "EXEC")
	refused("the key takes more than 2 MiB", "HSET", "hash", "f", "v")
	refused("the key takes more than 2 MiB", "EXPIRE", "hash", "1000")
	if n := leastCarriedOut(t, masters, "dump"); n > 2 {
		t.Errorf("each master has dumped %d keys or more for a transaction that was refused", n)
	}
	for _, m := range masters {
		for i := range keys {
			if ttl := ask(t, m, "PTTL", fmt.Sprint("k", i)); ttl != int64(-1) {
				t.Fatalf("a transaction that was refused has left %v of k%d", ttl, i)
			}
		}
		ask(t, m, "CONFIG", "RESETSTAT")
	}

	// An expiry alone changes no value.
	c.want("OK", "MULTI")
	c.want("QUEUED", "EXPIRE", "k0", "1000")
	c.want("QUEUED", "PEXPIRE", "k0", "2000000")
	c.want([]any{int64(1), int64(1)}, "EXEC")
	if n := leastCarriedOut(t, masters, "dump"); n > 1 {
		t.Errorf("each master has dumped a key %d times or more whose expiry was changed", n)
	}

	// What it would become is not dumped, and nothing is done.
	grows := []string{"MSET", "new", "v"}
	for i := range 3 {
		grows = append(grows, fmt.Sprint("k", i), mib[:500<<10])
	}
	refused(tooMuch, grows...)
	c.want(nil, "GET", "new")
	c.want(mib, "GET", "k2")
}
