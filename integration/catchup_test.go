package integration

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Masters that forget everything, and are given it back by what the others hold.
// max-ttl is long beside these tests, so that a master which votes again has caught
// up.

// awaitCatchUp empties a master behind the proxy's back and waits until it votes
// again. It returns how long it was given keys, as the proxy's log tells.
func awaitCatchUp(t *testing.T, p *Proxy, m *Redis) time.Duration {
	t.Helper()
	catchingUp := strings.Count(p.Log(), "master is catching up")
	ask(t, m, "FLUSHALL")
	var began time.Time
	eventually(t, func() error {
		now := strings.Count(p.Log(), "master is catching up")
		if now == catchingUp {
			return fmt.Errorf("no catch-up has begun")
		}
		if began.IsZero() {
			began = time.Now()
		}
		if got := voting(t, p); got != 3 {
			return fmt.Errorf("%d masters vote", got)
		}
		return nil
	})
	return time.Since(began)
}

// holdEveryType has a master hold every type, with fields and members given in one order or the
// other.
func holdEveryType(t *testing.T, m *Redis, backwards bool) {
	c := direct(t, m)
	step := func(n int, f func(i string)) {
		for i := range n {
			if backwards {
				i = n - 1 - i
			}
			f(strconv.Itoa(i))
		}
	}
	step(300, func(i string) {
		c.do("HSET", "hash", "field"+i, "value"+i)
		c.do("SADD", "set", "member"+i)
		c.do("SADD", "numbers", i)
		c.do("ZADD", "zset", "0."+i, "member"+i)
	})
	c.do("ZADD", "zset", "inf", "last", "-inf", "first", "1e300", "big")
	for i := range 300 {
		c.do("RPUSH", "list", strconv.Itoa(i))
	}
	c.do("HSET", "redisson", "0c1d:1", "1")
	c.do("PEXPIRE", "redisson", "100000")
	c.do("SET", "string", "a\r\n\x00\xff", "PX", "100000")
	c.do("SET", "long", strings.Repeat("x", 3<<20))
	c.do("SET", "empty", "")
	c.do("SET", "eternal", "token")
	c.do("SET", "for ever", "token", "PX", "9000000000000000")
	c.do("SETBIT", "bits", "1000", "1")
}

// Every type that locks use, however it came about on each master.
func TestEveryTypeIsCaughtUpWith(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	holdEveryType(t, masters[1], false)
	holdEveryType(t, masters[2], true)
	// A hash that held more once is coded otherwise than one that never did.
	big := direct(t, masters[2])
	for i := range 600 {
		big.do("HSET", "redisson", "other"+strconv.Itoa(i), "1")
	}
	for i := range 600 {
		big.do("HDEL", "redisson", "other"+strconv.Itoa(i))
	}
	awaitCatchUp(t, p, masters[0])

	got, want := direct(t, masters[0]), direct(t, masters[1])
	for _, read := range [][]string{
		{"GET", "string"}, {"GET", "long"}, {"GET", "empty"}, {"GET", "eternal"}, {"GET", "for ever"}, {"GET", "bits"},
		{"LRANGE", "list", "0", "-1"}, {"ZRANGE", "zset", "0", "-1", "WITHSCORES"}, {"HGET", "redisson", "0c1d:1"},
		{"HLEN", "redisson"}, {"HLEN", "hash"}, {"HGET", "hash", "field299"}, {"SCARD", "set"}, {"SISMEMBER", "set", "member299"}, {"SCARD", "numbers"},
		{"TTL", "hash"}, {"TTL", "eternal"}, {"TTL", "long"},
	} {
		if a, b := numbers(got.do(read...)), numbers(want.do(read...)); !reflect.DeepEqual(a, b) {
			t.Errorf("%q: %.100v, and %.100v on a source", read, a, b)
		}
	}
	for key, least := range map[string]int64{"redisson": 60_000, "string": 60_000, "for ever": 90_000_000_000_000} {
		if left := got.integer("PTTL", key); left < least {
			t.Errorf("%d ms are left of %s", left, key)
		}
	}
}

// numbers reads the numbers in a list: the versions of Redis write a score differently.
func numbers(reply any) any {
	list, ok := reply.([]any)
	if !ok {
		return reply
	}
	read := slices.Clone(list)
	for i, e := range list {
		s, _ := e.(string)
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			read[i] = n
		}
	}
	return read
}

// comeAndGo has locks be taken and released until it is stopped, and returns how long each was
// waited for.
func comeAndGo(t *testing.T, p *Proxy, stop chan struct{}) (waits []time.Duration) {
	c, err := Dial(p.Addr)
	if err != nil {
		return nil
	}
	defer c.Close()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return waits
		default:
		}
		asked := time.Now()
		key, token := "busy:"+strconv.Itoa(n%10), strconv.Itoa(n)
		if reply, err := c.Do("SET", key, token, "NX", "PX", milliseconds(ttl)); err != nil || reply != "OK" {
			t.Errorf("acquire %d: %v, %v", n, reply, err)
			return waits
		}
		waits = append(waits, time.Since(asked))
		if reply, err := c.Do("DEL", key); err != nil || reply != int64(1) {
			t.Errorf("release %d: %v, %v", n, reply, err)
			return waits
		}
	}
}

// A hundred thousand locks, with clients at work all the while.
func TestAHundredThousandLocksAreCaughtUpWith(t *testing.T) {
	t.Parallel()
	const locks = 100_000
	masters, p := startQuorum(t, 3)
	until := strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)
	const step = 2000 // so that the masters are not away from the proxy for long
	for _, m := range masters[1:] {
		c := direct(t, m)
		for i := 0; i < locks; i += step {
			c.want(1, "EVAL", `for i=ARGV[1]+1,ARGV[1]+ARGV[2] do redis.call('SET','lock:'..i,'token-0123456789abcdef-'..i,'PXAT',ARGV[3]) end return 1`,
				"0", strconv.Itoa(i), strconv.Itoa(step), until)
		}
	}
	awaitVoting(t, p, 3)
	stop, done := make(chan struct{}), make(chan []time.Duration)
	go func() { done <- comeAndGo(t, p, stop) }()
	took := awaitCatchUp(t, p, masters[0])
	close(stop)
	waits := <-done
	if len(waits) == 0 {
		t.Fatal("nobody was served meanwhile")
	}
	slices.Sort(waits)
	t.Logf("%d locks were given to a master in %v, while %d others came and went (p50 %v, p99 %v)",
		locks, took, len(waits), waits[len(waits)/2], waits[len(waits)*99/100])

	c := direct(t, masters[0])
	for _, i := range []int{1, locks / 2, locks} {
		c.want("token-0123456789abcdef-"+strconv.Itoa(i), "GET", "lock:"+strconv.Itoa(i))
		if got, want := c.integer("PEXPIRETIME", "lock:"+strconv.Itoa(i)), until; strconv.FormatInt(got, 10) < want {
			t.Errorf("a copy ends at %d, and the lock at %s", got, want)
		}
	}
	n := c.integer("EVAL", `local n=0 for i=1,tonumber(ARGV[1]) do n=n+redis.call('EXISTS','lock:'..i) end return n`, "0", strconv.Itoa(locks))
	if n != locks {
		t.Errorf("it was given %d locks", n)
	}
	// Nobody else can have one of them, though a master that held it is gone.
	must(t, masters[1].Stop())
	d := dial(t, p.Addr)
	if reply := d.do("SET", "lock:1", "another", "NX", "PX", "1000"); reply == "OK" {
		t.Error("a second holder")
	}
}

// What a master comes back with that the others do not hold is nobody's lock.
func TestMasterThatIsBackIsFreedOfWhatNobodyHolds(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	back := direct(t, masters[0])
	held := map[string][]string{
		"held":    {"SET", "held", "token", "PX", "100000"},
		"eternal": {"SET", "eternal", "token"},
		"hash":    {"HSET", "hash", "0c1d:1", "1"},
	}
	for _, set := range held {
		for _, m := range masters {
			ask(t, m, set...)
		}
	}
	awaitCatchUp(t, p, masters[0])
	long := strings.Repeat("x", 1000)
	back.do("SET", "ghost", "token")
	back.do("SET", "long", long, "PX", "100000")
	back.do("HSET", "counted", "0c1d:1", "1")
	back.do("SADD", "set", "a", "b")
	back.do("SET", "short", "a", "PX", "100000")
	ask(t, masters[1], "SET", "short", "b", "PX", "100000") // another's
	eventually(t, func() error {
		if n := back.do("EXISTS", "ghost", "long", "counted", "set", "short"); n != int64(0) {
			return fmt.Errorf("it still holds %v", n)
		}
		return nil
	})
	for key := range held {
		if back.do("EXISTS", key) != int64(1) {
			t.Errorf("it holds %s no more, which the others hold", key)
		}
	}
}

// Some hundreds of keys have names as long as may be. Masters that forget, one after the other,
// are given the lock that outlives max-ttl all the same, the keys are listed, and the set changes.
func TestCaughtUpWithBesideKeysOfLongNames(t *testing.T) {
	t.Parallel()
	var masters []*Redis
	for range 4 {
		masters = append(masters, startMaster(t, RedisOptions{Args: []string{"--databases", "1"}}))
	}
	old := masters[:3]
	p := startProxy(t, append(flags(old), "--max-client-memory", "33554432")...)
	c := dial(t, p.Addr)
	name := strings.Repeat("k", 64<<10-10)
	const many = 300
	for i := range many {
		c.want("OK", "SET", fmt.Sprintf("%s%06d", name, i), "v", "NX", "PX", "600000")
	}
	c.want("OK", "SET", "lock", "a", "NX", "PX", "600000")
	if f, _ := c.do("SET", name+name, "v").(Failure); f != "ERR the name of a key is longer than 65536 bytes" {
		t.Errorf("%.100q", f)
	}
	for _, count := range []string{"10", "1000"} {
		listed := make(map[string]bool)
		for cursor, more := "0", true; more; more = cursor != "0" {
			reply, ok := c.do("SCAN", cursor, "COUNT", count).([]any)
			if !ok {
				t.Fatalf("SCAN COUNT %s is not answered", count)
			}
			for _, key := range reply[1].([]any) {
				listed[key.(string)] = true
			}
			cursor = reply[0].(string)
		}
		if len(listed) != many+1 {
			t.Errorf("SCAN COUNT %s lists %d of %d keys", count, len(listed), many+1)
		}
	}
	for _, m := range old[:2] {
		awaitCatchUp(t, p, m)
		wantHolding(t, old, "lock", "a", 0, 1, 2)
	}
	c.want(nil, "SET", "lock", "b", "NX", "PX", "1000")
	changed(t, old, masters[1:], "--even-so")
	if n := ask(t, masters[3], "DBSIZE").(int64); n < many+2 { // with the marker
		t.Errorf("the new master holds %v keys", n)
	}
	wantHolding(t, masters[1:], "lock", "a", 0, 1, 2)
}
