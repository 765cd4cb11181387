package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Each of those who take members out of a set gets others, through one proxy or two: a stock of tickets.
func TestEachMemberIsPoppedOnce(t *testing.T) {
	t.Parallel()
	_, proxies := twoProxies(t, 3)
	poppedByAll(t, proxies, "SADD tickets", "SPOP tickets", "SPOP tickets 2")
	poppedByAll(t, proxies[:1], "SADD seats", "EVAL spop 1 seats")
}

// poppedByAll fills a key, and has clients of the proxies take all out of it, by one of the ways each.
func poppedByAll(t *testing.T, proxies []*Proxy, filling string, ways ...string) {
	t.Helper()
	const tickets, clients = 120, 8
	fill := strings.Fields(filling)
	key := fill[1]
	for i := range tickets {
		if fill[0] == "ZADD" {
			fill = append(fill, "5")
		}
		fill = append(fill, "ticket "+strconv.Itoa(i))
	}
	dial(t, proxies[0].Addr).want(int64(tickets), fill...)
	var mu sync.Mutex // guards popped
	var popped []string
	var all sync.WaitGroup
	for i := range clients {
		c, way := dial(t, proxies[i%len(proxies)].Addr), strings.Fields(ways[i/2%len(ways)])
		if way[0] == "EVAL" {
			way[1] = "return redis.call('" + way[1] + "', KEYS[1])"
		}
		all.Go(func() {
			for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
				reply, err := c.Do(way...)
				if err != nil {
					t.Errorf("%q: %v", way, err)
					return
				}
				list := ticketsIn(reply)
				if _, failed := reply.(Failure); len(list) == 0 && !failed {
					return
				}
				mu.Lock()
				popped = append(popped, list...)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(popped)
	if one := slices.Compact(slices.Clone(popped)); len(one) != len(popped) || len(one) != tickets {
		t.Errorf("of %d members %d were popped, all together %d times", tickets, len(one), len(popped))
	}
	dial(t, proxies[0].Addr).want(int64(0), "EXISTS", key)
}

// ticketsIn are those of the strings in a reply that are tickets, and no keys or scores.
func ticketsIn(reply any) (tickets []string) {
	switch reply := reply.(type) {
	case string:
		if strings.HasPrefix(reply, "ticket ") {
			return []string{reply}
		}
	case []any:
		for _, e := range reply {
			tickets = append(tickets, ticketsIn(e)...)
		}
	}
	return tickets
}

// What is chosen is any of the members, as often as others, and what masters hold.
func TestMembersAreChosenEvenly(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, unhurried...)
	c := dial(t, p.Addr)
	c.want(int64(4), "SADD", "s", "a", "b", "c", "d")
	times := make(map[any]int)
	for range 400 {
		times[c.do("SRANDMEMBER", "s")]++
	}
	for range 50 {
		for _, member := range c.do("SRANDMEMBER", "s", "-8").([]any) {
			times[member]++
		}
		c.want("OK", "MULTI")
		c.want("QUEUED", "SRANDMEMBER", "s", "3")
		three := c.do("EXEC").([]any)[0].([]any)
		if slices.Equal(three[:1], three[1:2]) || len(three) != 3 {
			t.Errorf("three different ones are %v", three)
		}
	}
	for _, member := range []any{"a", "b", "c", "d"} {
		if n := times[member]; n < 120 || n > 280 { // 200, and seven times what it may well differ by
			t.Errorf("%v was chosen %d times of 800", member, n)
		}
	}
	c.want([]any{"a", "b", "c", "d"}, "EVAL", "local r = redis.call('srandmember', KEYS[1], 9) table.sort(r) return r", "1", "s")
	c.want(Failure("ERR value is out of range, must be positive"), "SPOP", "s", "-1")
	for i := range 5 {
		words := []string{"SADD", "large"}
		for j := range 1000 {
			words = append(words, fmt.Sprint(i, " ", j))
		}
		c.want(int64(1000), words...)
	}
	if f, _ := c.do("SPOP", "large").(Failure); !strings.Contains(string(f), "SPOP goes through no key of more than 4096 elements") {
		t.Errorf("of 5000 members one is chosen: %v", f)
	}
}

// Whoever scans a key is told each element once that is there all the time, by pages of some
// hundred, whatever comes and goes meanwhile, and however often a master is another one.
func TestScanOfAKeyTellsEachElementOnce(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, unhurried...)
	c := dial(t, p.Addr)
	const stay, each = 2400, 400
	add := func(n int, words func(i int) []string) {
		t.Helper()
		for from := 0; from < n; from += each {
			var args []string
			for i := from; i < from+each; i++ {
				args = append(args, words(i)...)
			}
			c.want(int64(each), append([]string{map[bool]string{true: "HSET", false: "SADD"}[len(args) > each], "key"}, args...)...)
		}
	}
	for _, kind := range []string{"HSCAN", "SSCAN"} {
		c.do("DEL", "key")
		size := map[string]int{"HSCAN": 2, "SSCAN": 1}[kind]
		add(stay, func(i int) []string { return []string{fmt.Sprint("stays ", i), "v"}[:size] })
		seen, cursor, pages := make(map[string]int), "0", 0
		for {
			reply := c.do(kind, "key", cursor, "COUNT", "300").([]any)
			list := reply[1].([]any)
			for i := 0; i < len(list); i += size {
				seen[list[i].(string)]++
			}
			if len(list) > 500 {
				t.Errorf("%s tells %d values at once", kind, len(list))
			}
			pages++
			if cursor = reply[0].(string); cursor == "0" {
				break
			}
			c.do(map[string]string{"HSCAN": "HDEL", "SSCAN": "SREM"}[kind], "key", fmt.Sprint("comes ", pages-1))
			c.do(append([]string{map[string]string{"HSCAN": "HSET", "SSCAN": "SADD"}[kind], "key"}, []string{fmt.Sprint("comes ", pages), "v"}[:size]...)...)
		}
		for i := range stay {
			if n := seen[fmt.Sprint("stays ", i)]; n != 1 {
				t.Fatalf("%s tells element %d %d times", kind, i, n)
			}
		}
		if pages < stay*size/500 {
			t.Errorf("%s has told all on %d pages", kind, pages)
		}
		matches := 0
		for cursor, more := "0", true; more; more = cursor != "0" {
			reply := c.do(kind, "key", cursor, "MATCH", "*s 1?", "COUNT", "250").([]any)
			cursor, matches = reply[0].(string), matches+len(reply[1].([]any))
		}
		if matches != 10*size {
			t.Errorf("%s MATCH tells %d values", kind, matches)
		}
		if f, _ := c.do(kind, "key", "0", "MATCH", "*a*a*a*a*b").(Failure); !strings.Contains(string(f), "takes a master too long") {
			t.Errorf("a pattern that takes long is answered %v", f)
		}
	}
}

// All that came for commands is there in scripts and in transactions, and answers alike.
func TestFurtherCommandsAreTheSameInScriptsAndTransactions(t *testing.T) {
	t.Parallel()
	_, p := startQuorum(t, 3, unhurried...)
	c := dial(t, p.Addr)
	c.want(int64(2), "HSET", "h", "f", "value", "g", "w")
	c.want(int64(2), "SADD", "s", "1", "2")
	c.want(int64(3), "ZADD", "z", "1", "a", "2", "b", "3", "c")
	c.want("OK", "SET", "x", "5", "EX", "1000")
	end := time.Now().Add(1000 * time.Second)
	for _, row := range []struct {
		words string
		want  any
	}{
		{"HSTRLEN h f", int64(5)},
		{"HKEYS h", []any{"f", "g"}},
		{"SMISMEMBER s 1 3", []any{int64(1), int64(0)}},
		{"ZMSCORE z a d", []any{"1", nil}},
		{"ZRANK z b", int64(1)},
		{"ZREVRANK z c WITHSCORE", []any{int64(0), "3"}},
		{"ZREVRANGE z 0 0 WITHSCORES", []any{"c", "3"}},
		{"ZRANGEBYSCORE z (1 +inf LIMIT 0 1", []any{"b"}},
		{"ZREVRANGEBYSCORE z 2 1", []any{"b", "a"}},
		{"TOUCH h s nosuch h", int64(3)},
		{"ZSCAN nosuch 0", []any{"0", []any{}}},
		{"ZSCAN nosuch 0\x00x", []any{"0", []any{}}},
		{"SSCAN s 0 MATCH 1*", []any{"0", []any{"1"}}},
		{"OBJECT ENCODING s", "intset"},
		{"OBJECT encoding nosuch", nil},
		{"OBJECT IDLETIME nosuch", nil},
		{"MEMORY USAGE nosuch", nil},
		{"EXPIRETIME h", int64(-1)},
		{"PEXPIRETIME nosuch", int64(-2)},
		{"SPOP nosuch", nil},
		{"SRANDMEMBER nosuch 2", []any{}},
	} {
		words := strings.Fields(row.words)
		c.want(row.want, words...)
		c.want("OK", "MULTI")
		c.want("QUEUED", words...)
		c.want("QUEUED", "PING")
		c.want([]any{row.want, "PONG"}, "EXEC")
		script := "return redis.call(unpack(ARGV))"
		keys := []string{"EVAL_RO", script, "5", "h", "s", "z", "x", "nosuch"}
		if words[0] == "SPOP" {
			keys[0] = "EVAL"
		}
		c.want(row.want, append(keys, words...)...)
	}
	for _, got := range []any{
		c.do("EXPIRETIME", "x"),
		c.do("EVAL", "return redis.call('expiretime', KEYS[1])", "1", "x"),
	} {
		if at, _ := got.(int64); at < end.Unix()-1 || at > end.Unix()+1 {
			t.Errorf("what ends at %d is told to end at %v", end.Unix(), got)
		}
	}
	for _, got := range []any{
		c.do("OBJECT", "IDLETIME", "z"),
		c.do("EVAL_RO", "return redis.call(unpack(ARGV))", "5", "h", "s", "z", "x", "nosuch", "OBJECT", "IDLETIME", "z"),
	} {
		if idle, ok := got.(int64); !ok || idle < 0 || idle > int64(patience/time.Second) {
			t.Errorf("what was just used is told to be idle for %v", got)
		}
	}
	if n, _ := c.do("MEMORY", "USAGE", "h", "SAMPLES", "0").(int64); n < 20 || n > 1000 {
		t.Errorf("a hash of two fields takes %d bytes", n)
	}
	c.want([]any{"value", "w"}, "HVALS", "h")
	c.want(Failure("ERR Write commands are not allowed from read-only scripts."), "EVAL_RO", "return redis.pcall('spop', KEYS[1])", "1", "s")
	// Three texts were run.
	if info := c.text("INFO", "memory"); !strings.Contains(info, "number_of_cached_scripts:3\r\n") {
		t.Errorf("INFO tells %s", info)
	}
}

// A master that has drawn other numbers than the rest, as one that was started again, draws what they do.
func TestMastersDrawTheSameRandomNumbers(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	for i, m := range masters {
		ask(t, m, "EVAL", "for _ = 1, ARGV[1] do math.random() end", "0", strconv.Itoa(i))
	}
	c := dial(t, p.Addr)
	const draws = "return math.random(1, 2^30) .. ' ' .. math.random()"
	seen := map[any]bool{}
	for range 5 {
		drawn := c.do("EVAL", draws, "0")
		if _, failed := drawn.(Failure); failed || seen[drawn] {
			t.Errorf("after %v came %v", seen, drawn)
		}
		seen[drawn] = true
	}
	c.want("OK", "MULTI")
	c.want("QUEUED", "EVAL", draws, "0")
	c.want("QUEUED", "EVAL", draws, "0")
	if drawn, ok := c.do("EXEC").([]any); !ok || len(drawn) != 2 || drawn[0] == drawn[1] {
		t.Errorf("a transaction drew %v", drawn)
	}
}
