package proxy

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// TestUndecidedKeysAreCounted does what a connection does at random, with few keys and
// with many, and compares with a plain count.
func TestUndecidedKeysAreCounted(t *testing.T) {
	type entry struct {
		key    string
		queues bool
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{1, fewKeys, 3 * fewKeys, 2 * manyKeys} {
		var u undecided
		var held []entry
		count := map[entry]int{}
		for range 40 * most {
			e := entry{strconv.Itoa(rnd.IntN(most)), rnd.IntN(2) == 0}
			if queueing, others := count[entry{e.key, true}], count[entry{e.key, false}]; u.waits(e.key, true) != (others > 0) || u.waits(e.key, false) != (queueing+others > 0) {
				t.Fatalf("%d keys: %q waits %t, %t with %d that queue and %d others", most, e.key, u.waits(e.key, true), u.waits(e.key, false), queueing, others)
			}
			if u.any() != (len(held) > 0) {
				t.Fatalf("%d keys: any is %t with %d held", most, u.any(), len(held))
			}
			// Now and then everything is decided.
			if len(held) > 0 && rnd.IntN(5) < 2 {
				for again := rnd.IntN(8*most) == 0; ; {
					i := rnd.IntN(len(held))
					e, held[i] = held[i], held[len(held)-1]
					held = held[:len(held)-1]
					count[e]--
					u.remove(e.key, e.queues)
					if !again || len(held) == 0 {
						break
					}
				}
				continue
			}
			held = append(held, e)
			count[e]++
			u.add(e.key, e.queues)
		}
	}
}

// Others wait while the keys of a command are told from each other. To compare each with all
// before takes several times as long as is allowed here.
func TestKeysOfACommandAreToldFromEachOtherInTime(t *testing.T) {
	keys := make([]string, 8000)
	for i := range keys {
		keys[i] = strings.Repeat("k", 90) + strconv.Itoa(1_000_000+i)
	}
	enter := func(keys []string) {
		c, s := &conn{phase: serving}, &slot{holds: holds{ordered: true}}
		for range 2 {
			if !c.enter(s, &quorum.Request{Kind: quorum.Run, Script: quorum.NewScript(""), Keys: keys}) {
				t.Fatal("the connection has ended")
			}
		}
		if len(s.held) != len(keys) || len(c.undecided.keys) != len(keys) {
			t.Fatalf("%d keys are held and %d undecided, want %d", len(s.held), len(c.undecided.keys), len(keys))
		}
	}
	few, many := time.Hour, 7*time.Hour
	for n := 0; n < 100 && many > 6*few; n++ { // so that the machine is nobody else's once
		began := time.Now()
		for range 16 {
			enter(keys[:len(keys)/16])
		}
		few = min(few, time.Since(began))
		began = time.Now()
		enter(keys)
		many = min(many, time.Since(began))
	}
	if many > 6*few {
		t.Errorf("%v for few at a time, and %v for as many at once", few, many)
	}
}

// A script that may use other keys than it was given waits for all that have its tags, and they for
// it; others of one tag go their own ways.
func TestScriptThatReachesWaitsForItsTag(t *testing.T) {
	reaches := quorum.NewScript("")
	reaches.Reaches = true
	script := quorum.Request{Kind: quorum.Run, Script: reaches, Key: "{t}:x", Keys: []string{"{t}:x", "{t}:y"}}
	given := quorum.Request{Kind: quorum.Run, Script: quorum.NewScript(""), Key: "{t}:x", Keys: []string{"{t}:x"}}
	on := func(key string) quorum.Request { return quorum.Request{Kind: quorum.Acquire, Key: key} }
	for _, c := range []struct {
		first, second quorum.Request
		waits         bool
	}{
		{on("{t}:a"), script, true},
		{on("t"), script, true},
		{script, on("{t}:a"), true},
		{script, on("t"), true},
		{script, script, true},
		{script, given, true},
		{on("{u}:a"), script, false},
		{script, on("{u}:a"), false},
		{script, on("{t"), false},
		{on("{t}:a"), on("{t}:b"), false},
		{on("{t}:a"), given, false},
		{given, on("{t}:b"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, first := &conn{phase: serving}, &slot{}
			conn.changed.L = &conn.mu
			conn.mu.Lock()
			conn.enter(first, &c.first)
			conn.mu.Unlock()
			entered := false
			go func() {
				conn.mu.Lock()
				defer conn.mu.Unlock()
				second := &slot{}
				entered = conn.enter(second, &c.second)
				conn.decided(second)
			}()
			synctest.Wait()
			if entered == c.waits {
				t.Errorf("%v of %q and then %v of %q: it entered %v", c.first.Kind, c.first.Key, c.second.Kind, c.second.Key, entered)
			}
			conn.mu.Lock()
			conn.decided(first)
			conn.wake()
			conn.mu.Unlock()
			synctest.Wait()
			if !entered || conn.undecided.any() || conn.reached.any() {
				t.Errorf("%v of %q and then %v of %q: it is left undecided", c.first.Kind, c.first.Key, c.second.Kind, c.second.Key)
			}
		})
	}
}
