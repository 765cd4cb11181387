package integration

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	permitTake = "local n = redis.call('get', KEYS[1]) if n ~= false and tonumber(n) >= tonumber(ARGV[1]) then redis.call('decrby', KEYS[1], ARGV[1]) return 1 end return 0"
	permitGive = "local n = redis.call('incrby', KEYS[1], ARGV[1]) redis.call('publish', KEYS[2], n)"
)

// besides has clients of two proxies do something, so often each.
func besides(t *testing.T, clients, often int, do func(c talk, client int), proxies ...*Proxy) {
	t.Helper()
	var done sync.WaitGroup
	for i := range clients {
		c := dial(t, proxies[i%len(proxies)].Addr)
		done.Go(func() {
			for range often {
				do(c, i)
			}
		})
	}
	done.Wait()
}

// Clients of two proxies count by a script: no number is told twice, and none is missing.
func TestScriptsOfTwoProxiesCountOnceEach(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3, unhurried...)
	second := startProxy(t, append(flags(masters), unhurried...)...)
	var mu sync.Mutex
	var told []int64
	besides(t, 6, 40, func(c talk, _ int) {
		n := c.integer("EVAL", "return redis.call('incrby', KEYS[1], ARGV[1])", "1", "n", "1")
		mu.Lock()
		told = append(told, n)
		mu.Unlock()
	}, first, second)
	slices.Sort(told)
	for i, n := range told {
		if n != int64(i+1) {
			t.Fatalf("told are %v", told)
		}
	}
	if n := dial(t, second.Addr).text("GET", "n"); n != strconv.Itoa(len(told)) {
		t.Errorf("in the end there are %s", n)
	}
}

// What a script has removed is so on all masters when it is answered with no or nothing, and nobody's way is barred by it.
func TestScriptThatRemovesAndSaysNoLetsOthersGoOn(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3, "--acquire-timeout", "5s")
	second := startProxy(t, append(flags(masters), "--acquire-timeout", "5s")...)
	one, two := dial(t, first.Addr), dial(t, second.Addr)
	for _, answers := range []string{"return 0", "return redis.call('zcard', KEYS[1])", ""} {
		one.integer("ZADD", "z", "1", "a")
		one.do("EVAL", "redis.call('zrem', KEYS[1], ARGV[1]) "+answers, "1", "z", "a")
		if n := two.integer("ZADD", "z", "1", "b"); n != 1 {
			t.Errorf("%q: ZADD is answered with %d", answers, n)
		}
		two.integer("DEL", "z")
	}
}

const (
	placeTake = `local key, limit = KEYS[1], tonumber(ARGV[1]) redis.call('zremrangebyscore', key, '-inf', ARGV[4])
if redis.call('zcard', key) < limit then redis.call('zadd', key, ARGV[3], ARGV[2]) redis.call('pexpire', key, ARGV[5]) return 1 end return 0`
	placeGive = "return redis.call('zrem', KEYS[1], ARGV[1])"
)

// room is for so many at once, who have come in less than a lease ago.
type room struct {
	t     *testing.T
	limit int
	lease time.Duration

	mu      sync.Mutex
	since   map[string]time.Time // who is inside, and when he has asked
	entered int
}

func (r *room) enter(who string, asked time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since[who] = asked
	r.entered++
	maps.DeleteFunc(r.since, func(_ string, asked time.Time) bool { return time.Since(asked) > r.lease })
	if len(r.since) > r.limit {
		r.t.Errorf("%d are inside: %v", len(r.since), r.since)
	}
}

func (r *room) leave(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.since, who)
}

// goOn waits until so many more have come in.
func (r *room) goOn(n int) {
	r.t.Helper()
	r.mu.Lock()
	want := r.entered + n
	r.mu.Unlock()
	eventually(r.t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.entered < want {
			return fmt.Errorf("%d have entered, want %d", r.entered, want)
		}
		return nil
	})
}

// Clients of two proxies share a semaphore in a sorted set, as libraries have it, while masters are killed that forget
// nothing, one at a time: never are more inside than it has room for. Where a master has missed something as another one
// dies it may be nobody's until its lease ends.
func TestSemaphoreOfTwoProxiesAdmitsNoMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	masters := durableMasters(t, 3)
	proxies := []*Proxy{startProxy(t, flags(masters)...), startProxy(t, flags(masters)...)}
	in := &room{t: t, limit: 2, lease: 3 * time.Second, since: make(map[string]time.Time)}
	var over atomic.Bool
	var done sync.WaitGroup
	for i := range 6 {
		c := dial(t, proxies[i%2].Addr)
		done.Go(func() {
			for n := 0; !over.Load(); n++ {
				asked, who := time.Now(), fmt.Sprintf("%d-%d", i, n)
				said := c.do("EVAL", placeTake, "1", "places", fmt.Sprint(in.limit), who, fmt.Sprint(asked.UnixMilli()), fmt.Sprint(asked.Add(-in.lease).UnixMilli()), milliseconds(in.lease))
				if said == int64(1) {
					in.enter(who, asked)
					time.Sleep(2 * time.Millisecond)
					in.leave(who)
				}
				// What may have happened is taken back, until that is known.
				for left := said; said == int64(1) || isNoQuorum(left); {
					if left = c.do("EVAL", placeGive, "1", "places", who); !isNoQuorum(left) {
						break
					}
				}
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	for _, m := range masters {
		in.goOn(10)
		must(t, m.Kill())
		in.goOn(5)
		must(t, m.Restart())
		for _, p := range proxies {
			awaitVoting(t, p, 3)
		}
	}
	in.goOn(10)
	over.Store(true)
	done.Wait()
}

// Clients of two proxies share a semaphore by the scripts of Redisson's: never are more inside than it has permits, and in
// the end all of these are there again.
func TestSemaphoreOfTwoProxiesLosesNoPermit(t *testing.T) {
	t.Parallel()
	const permits = 3
	masters, first := startQuorum(t, 3, unhurried...)
	second := startProxy(t, append(flags(masters), unhurried...)...)
	c := dial(t, first.Addr)
	c.want("OK", "SET", "sem", fmt.Sprint(permits))
	var mu sync.Mutex
	inside := 0
	enters := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if inside += n; inside > permits {
			t.Errorf("%d are inside", inside)
		}
	}
	besides(t, 8, 15, func(c talk, _ int) {
		for c.integer("EVAL", permitTake, "1", "sem", "1") != 1 {
			time.Sleep(5 * time.Millisecond)
		}
		enters(1)
		time.Sleep(2 * time.Millisecond)
		enters(-1)
		c.want(nil, "EVAL", permitGive, "2", "sem", "{sem}:given", "1")
	}, first, second)
	if n := dial(t, second.Addr).text("GET", "sem"); n != fmt.Sprint(permits) {
		t.Errorf("in the end there are %s permits", n)
	}
}
