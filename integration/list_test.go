package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// rebuilt has each master hold a list, behind the proxy's back.
func rebuilt(t *testing.T, masters []*Redis, key string, lists ...string) {
	t.Helper()
	for i, m := range masters {
		ask(t, m, "DEL", key)
		if lists[i] != "" {
			ask(t, m, append([]string{"RPUSH", key}, strings.Fields(lists[i])...)...)
		}
	}
}

// wantLists wants that the masters come to hold these lists.
func wantLists(t *testing.T, masters []*Redis, key string, lists ...string) {
	t.Helper()
	for i, m := range masters {
		eventually(t, func() error {
			if got := fmt.Sprint(ask(t, m, "LRANGE", key, "0", "-1")); lists[i] != "?" && got != "["+lists[i]+"]" {
				return fmt.Errorf("master %d holds %s, want %s", i, got, lists[i])
			}
			return nil
		})
	}
}

// Masters that have missed a push or a pop answer another element, or none.
func TestElementIsThatOfAQuorum(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	for _, test := range []struct {
		lists [3]string
		ask   string
		want  any       // "" is NOQUORUM
		left  [3]string // ? where it hangs on who was heard first
	}{
		{[3]string{"a b", "a b", "b"}, "LPOP l", "a", [3]string{"b", "b", "?"}},
		{[3]string{"a b", "a b", "b"}, "RPOP l", "b", [3]string{"a", "a", "?"}},
		{[3]string{"a b", "b", "b"}, "LPOP l", "b", [3]string{"?", "", ""}},
		{[3]string{"a", "", ""}, "LPOP l", nil, [3]string{"a", "", ""}},
		{[3]string{"a", "b", ""}, "LPOP l", "", [3]string{"a", "b", ""}},
		{[3]string{"a b c", "b c", "c"}, "LPOP l 2", "", [3]string{"a b c", "b c", "c"}},
		{[3]string{"a", "b", ""}, "LLEN l", 1, [3]string{"a", "b", ""}},
		{[3]string{"a b", "b", ""}, "LLEN l", "", [3]string{"a b", "b", ""}},
		{[3]string{"a b", "b", ""}, "RPUSH l c", "", [3]string{"a b", "b", ""}},
		{[3]string{"a", "b", ""}, "RPUSH l c", "", [3]string{"a", "b", ""}}, // of which two have two elements then
		{[3]string{"a b", "b", "c b"}, "RPOP l", "", [3]string{"a b", "b", "c b"}},
		{[3]string{"a b", "a b", "c b"}, "RPOP l", "b", [3]string{"a", "a", "?"}},
		{[3]string{"a", "b", ""}, "LREM l 0 a", 0, [3]string{"a", "b", ""}},
		{[3]string{"a", "a", "b"}, "LMOVE l m LEFT LEFT", "a", [3]string{"", "", "?"}},
		{[3]string{"a", "b", "c"}, "LMOVE l m LEFT LEFT", "", [3]string{"a", "b", "c"}},
		{[3]string{"a", "b", "c"}, "LMOVE l l LEFT LEFT", "", [3]string{"a", "b", "c"}},
		{[3]string{"a", "b", "c"}, "LTRIM l 1 0", "OK", [3]string{"?", "?", "?"}},
		{[3]string{"a b", "a", "c d"}, "LINDEX l 0", "a", [3]string{"a b", "a", "c d"}},
		{[3]string{"a b", "a b", "c"}, "LINSERT l AFTER a x", 3, [3]string{"a x b", "a x b", "?"}},
		// As a script of a client's, what it has made counts as well.
		{[3]string{"a b", "a b", "a"}, "EVAL lpop 1 l", "a", [3]string{"b", "b", "?"}},
		{[3]string{"a b c", "a b", "a"}, "EVAL lpop 1 l", "", [3]string{"a b c", "a b", "a"}},
	} {
		rebuilt(t, masters, "l", test.lists[:]...)
		rebuilt(t, masters, "m", "", "", "")
		args := strings.Fields(test.ask)
		if args[0] == "EVAL" {
			args[1] = "return redis.call('" + args[1] + "', KEYS[1])"
		}
		if got := c.do(args...); test.want == "" && !isNoQuorum(got) || test.want != "" && fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%q: %s is answered %v, want %v", test.lists, test.ask, got, test.want)
		}
		wantLists(t, masters, "l", test.left[:]...)
		for i, m := range masters {
			if n := ask(t, m, "LLEN", "m"); (n != int64(0)) != (args[0] == "LMOVE" && test.want == "a" && args[2] == "m" && i < 2) && i < 2 {
				t.Errorf("%s: master %d has moved %v", test.ask, i, n)
			}
		}
	}
}

// A master that was away while others pushed is given their list by a later command, in order.
func TestMasterThatHasMissedAPushIsGivenTheList(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	long := strings.Repeat("x", 9000)
	c.want(3, "RPUSH", "l", "a", "b", "c")
	must(t, masters[2].Freeze())
	awaitVoting(t, p, 2)
	c.want(4, "LPUSH", "l", long)
	c.want("c", "RPOP", "l")
	c.want(1, "PEXPIRE", "l", "100000")
	must(t, masters[2].Thaw())
	awaitVoting(t, p, 3)
	eventually(t, func() error {
		c.want("OK", "LSET", "l", "1", "z")
		if got := fmt.Sprint(ask(t, masters[2], "LRANGE", "l", "0", "-1")); got != "["+long+" z b]" {
			return fmt.Errorf("it holds %.100s", got)
		}
		return nil
	})
	must(t, masters[0].Freeze())
	awaitVoting(t, p, 2)
	c.want(long, "LPOP", "l")
	c.want([]any{"z", "b"}, "LPOP", "l", "5")
	must(t, masters[0].Thaw())
}

// An older master is given the lists of newer ones, too, whole and in order.
func TestListsAreCaughtUpWith(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	c := dial(t, p.Addr)
	long, bytes := strings.Repeat("x", 20000), "a\r\n\x00\xff"
	c.want(6, "RPUSH", "mixed", long, "1", "", "-70000", bytes, "1")
	c.want(1, "PEXPIRE", "mixed", "100000")
	words := []string{"RPUSH", "many"}
	for i := range 1000 {
		words = append(words, fmt.Sprint("element ", i%300))
	}
	for i := range 15 {
		c.want((i+1)*1000, words...)
	}
	c.want("element 0", "LPOP", "many")
	const digested = `return redis.sha1hex(table.concat(redis.call('LRANGE', KEYS[1], 0, -1), ','))`
	whole := c.do("EVAL", digested, "1", "mixed")
	for i, m := range masters {
		awaitCatchUp(t, p, m)
		if ask(t, m, "EVAL", digested, "1", "mixed") != whole {
			t.Errorf("master %d holds another list", i)
		}
		if n := ask(t, m, "LLEN", "many"); n != int64(14999) {
			t.Errorf("master %d holds %v of many", i, n)
		}
		for _, at := range []string{"0", "298", "299", "-1", "7000"} {
			if got, want := ask(t, m, "LINDEX", "many", at), c.do("LINDEX", "many", at); got != want {
				t.Errorf("master %d holds %v at %s, want %v", i, got, at, want)
			}
		}
	}
	if left, _ := ask(t, masters[0], "PTTL", "mixed").(int64); left < 50000 {
		t.Errorf("%d ms are left of it", left)
	}
	c.want(bytes, "LINDEX", "mixed", "4")
}

// What a list has, and a reply, is bounded.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	masters, p := startQuorum(t, 3)
	for _, m := range masters {
		ask(t, m, "EVAL", `for i = 1, 200000 do redis.call('RPUSH', 'long', i) if i <= 19000 then redis.call('RPUSH', 'full', i % 10) end end redis.call('RPUSH', 'over', 'x')
for i = 1, 20000 do redis.call('RPUSH', 'over', i) end for i = 1, 600 do redis.call('RPUSH', 'short', 'e' .. i) end`, "0")
	}
	c := dial(t, p.Addr)
	const tooLarge, tooLong, behind = "the reply of the script is too large", "the list has more than 20000 elements, and can only be read and deleted", "what is looked for is behind more than 100000 elements"
	for ask, want := range map[string]string{
		"LRANGE short 0 -1": tooLarge, "LRANGE short 0 500": "", "LPOP short 502": tooLarge, "RPOP short 9223372036854775807": tooLarge, "LRANGE long 0 -1": tooLarge,
		"LPUSH over 1": tooLong, "LPOP over": tooLong, "LMPOP 1 over LEFT": tooLong, "LMPOP 2 none long RIGHT": tooLong, "LTRIM over 0 1": tooLong, "EVAL lpop 1 over": tooLong, "EXPIRE over 100": "", "LLEN over": "", "RPUSH full 1": "", "LSET full 0 1": "", "LTRIM full 0 -1": "",
		"LPOS long 200000": behind, "LPOS long x MAXLEN 1000": "", "LPOS long x MAXLEN 0": behind, "LPOS full x": "", "LINDEX long 99000": "", "LINDEX long 100001": "", "LRANGE long 100000 100010": "",
		"LPOS over x COUNT 0": "", "LINDEX long -5": "", "EVAL llen 1 long": "",
		"EVAL lrange 1 long": "the script reads a key of 200000 elements, more than 10000",
	} {
		args := strings.Fields(ask)
		if args[0] == "EVAL" {
			args[1] = "return redis.call('" + args[1] + "', KEYS[1]" + map[string]string{"lrange": ", 0, 1"}[args[1]] + ")"
		}
		if f, failed := c.do(args...).(Failure); failed != (want != "") || !strings.Contains(string(f), want) {
			t.Errorf("%s is answered %.100q", ask, f)
		}
	}
	// Of one transaction it is bounded altogether.
	c.want("OK", "MULTI")
	for range 20 {
		c.want("QUEUED", "LREM", "full", "1", "x")
	}
	if f, _ := c.do("EXEC").(Failure); !strings.Contains(string(f), behind) {
		t.Errorf("%.100q", f)
	}
	if f, _ := c.do("WATCH", "long").(Failure); !strings.Contains(string(f), "more than 1000 fields, elements and members") {
		t.Errorf("%.100q", f)
	}
	for _, key := range []string{"long", "over", "short"} {
		c.want(1, "DEL", key)
	}
}

// popping is what clients push and pop, and are told.
type popping struct {
	mu     sync.Mutex // guards what follows
	told   map[string]int
	errors int
}

func (b *popping) took(element string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told[element]++
}

// turn pushes an element, or pops one.
func (b *popping) turn(c *Client, r *rand.Rand, element string) error {
	var reply any
	var err error
	switch r.IntN(8) {
	case 0, 1, 2:
		reply, err = c.Do([]string{"LPUSH", "RPUSH"}[r.IntN(2)], "l", element)
	case 3:
		reply, err = c.Do("LPOP", "l", "2")
	case 4:
		reply, err = c.Do("LMOVE", "l", "l", "LEFT", "RIGHT")
		if _, told := reply.(string); told {
			return err
		}
	default:
		reply, err = c.Do([]string{"LPOP", "RPOP"}[r.IntN(2)], "l")
	}
	switch reply := reply.(type) {
	case string:
		b.took(reply)
	case []any:
		for _, e := range reply {
			b.took(e.(string))
		}
	case Failure:
		b.mu.Lock()
		b.errors++
		b.mu.Unlock()
		if !isNoQuorum(reply) {
			return fmt.Errorf("%v", reply)
		}
	}
	return err
}

// Clients of two proxies push and pop, while masters are troubled.
func TestNoElementIsPoppedTwiceWhileMastersComeAndGo(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	masters := startMasters(t, 3)
	relays := [2][]*Relay{relayed(t, masters), relayed(t, masters)}
	var proxies [2]*Proxy
	for i := range proxies {
		proxies[i] = startProxy(t, append(relayFlags(relays[i]), brisk...)...)
	}
	popped := &popping{told: make(map[string]int)}
	var group sync.WaitGroup
	stop := make(chan struct{})
	for i := range 8 {
		c, r := dial(t, proxies[i%2].Addr), rand.New(rand.NewPCG(random.Uint64(), 0))
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := popped.turn(c.Client, r, fmt.Sprintf("e%d.%d", i, n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	const least = 100
	enough := func() bool {
		popped.mu.Lock()
		defer popped.mu.Unlock()
		return len(popped.told) >= least
	}
	for began := time.Now(); time.Since(began) < 8*time.Second || !enough() && time.Since(began) < patience; {
		i, side := random.IntN(3), random.IntN(2)
		trouble := troubles[1+random.IntN(4)]
		trouble.begin(t, masters[i], relays[side][i])
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
		trouble.end(t, masters[i], relays[side][i])
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		if random.IntN(4) == 0 { // masters that all differ would answer nobody any more
			dial(t, proxies[side].Addr).do("DEL", "l")
		}
	}
	close(stop)
	group.Wait()
	t.Logf("%d elements were popped, and %d errors told", len(popped.told), popped.errors)
	for element, n := range popped.told {
		if n > 1 {
			t.Errorf("%s was popped %d times", element, n)
		}
	}
	if len(popped.told) < least {
		t.Error("hardly anything was popped")
	}
}
