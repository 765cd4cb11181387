package proxy

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func TestBlockedClientsAreServedInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		clients := make([]*client, 20)
		for i := range clients {
			clients[i] = r.dial()
			clients[i].send("BLPOP q 0\r\n")
			time.Sleep(3 * roundTrip)
		}
		if n := r.server.blocked.count.Load(); n != 20 {
			t.Errorf("%d are blocked, want 20", n)
		}
		pusher := r.dial()
		before := e.all()
		for i := range 10 {
			pusher.send(fmt.Sprintf("RPUSH q %d\r\n", i))
			pusher.gets(":1\r\n", roundTrip)
			clients[i].gets(popped("q", fmt.Sprint(i)), roundTrip)
		}
		if n := e.all() - before; n != 20 {
			t.Errorf("for 10 elements the masters were asked %d times", n)
		}
		pusher.send("RPUSH q a b c d e f g h i j\r\n")
		pusher.gets(":10\r\n", roundTrip)
		for i := range 10 {
			clients[10+i].gets(popped("q", string(rune('a'+i))), roundTrip)
		}
		r.end()
	})
}

// Those who are served at once do not all ask at once.
func TestNotAllAskAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		clients := make([]*client, 1000)
		for i := range clients {
			clients[i] = r.dial()
			clients[i].send(fmt.Sprintf("BLPOP q%d 0\r\n", i))
		}
		time.Sleep(20 * roundTrip)
		e.mu.Lock()
		for i := range clients {
			e.lists[fmt.Sprint("q", i)] = []string{"v"}
		}
		before := e.asked[quorum.Run]
		e.mu.Unlock()
		r.engine.observer.Changed(0, "") // they are looked for, and found
		time.Sleep(roundTrip + roundTrip/2)
		for asked := 0; asked < 1000; {
			time.Sleep(roundTrip)
			e.mu.Lock()
			n := e.asked[quorum.Run] - before
			e.mu.Unlock()
			if n-asked > mostAsking || n == asked {
				t.Fatalf("%d have asked, and %d a round trip before", n, asked)
			}
			asked = n
		}
		for i, c := range clients {
			c.expect(popped(fmt.Sprint("q", i), "v"))
		}
		r.end()
	})
}

func TestWhoIsBlockedCostsNothingWhereMastersTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		r.server.watch()
		const many = 10_000
		for i := range many {
			c := r.dial()
			c.send(fmt.Sprintf("BLPOP q%d 0\r\n", i))
		}
		time.Sleep(10 * time.Second) // they are asked for in turn
		for i := range many {
			r.engine.observer.Watched(0, fmt.Sprint("q", i), true)
			r.engine.observer.Watched(2, fmt.Sprint("q", i), true)
		}
		time.Sleep(10 * time.Second)
		before := e.all()
		time.Sleep(20 * time.Second)
		if n := e.all() - before; n != 0 {
			t.Errorf("the masters were asked %d times while nothing changed", n)
		}
		r.engine.observer.Changed(2, "") // one is lost, and the others are one too few
		time.Sleep(5 * roundTrip)
		before = e.all()
		time.Sleep(10 * time.Second)
		if n := e.all() - before; n < 9*many || n > 11*many {
			t.Errorf("they were asked %d times in 10 s, for %d keys of which one tells", n, many)
		}
		r.end()
	})
}

func TestBlockedClientHearsOfAnElement(t *testing.T) {
	put := func(e *elements) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.lists["b"] = []string{"v"}
	}
	for name, how := range map[string]struct {
		do     func(r *rig, e *elements)
		within time.Duration
	}{
		"nobody tells":     {func(_ *rig, e *elements) { put(e) }, lookSpan + 3*roundTrip},
		"a master tells":   {func(r *rig, e *elements) { put(e); r.engine.observer.Changed(1, "b") }, 2 * roundTrip},
		"a master is lost": {func(r *rig, e *elements) { put(e); r.engine.observer.Changed(1, "") }, 2 * roundTrip},
		"by a move":        {func(r *rig, e *elements) { c := r.dial(); c.send("RPUSH x v\r\nLMOVE x b LEFT LEFT\r\n") }, 4 * roundTrip},
		"by one that waits": {func(r *rig, e *elements) {
			c := r.dial()
			c.send("BLMOVE x b LEFT LEFT 0\r\n")
			r.dial().send("RPUSH x v\r\n")
		}, 5 * roundTrip},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, e := newBlockingRig(t, Config{})
				c := r.dial()
				c.send("BLPOP a b b 0\r\n")
				time.Sleep(1500 * time.Millisecond)
				how.do(r, e)
				c.gets(popped("b", "v"), how.within)
				if n := len(r.server.blocked.lines); n != 0 && name != "by one that waits" {
					t.Errorf("%d lines are left", n)
				}
				r.end()
			})
		})
	}
}

// The masters hold something, and whoever asks for it gets nothing: of lists that differ there is none.
func TestWhoAsksInVainAsksLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		c := r.dial()
		c.send("BLPOP q 0\r\n")
		time.Sleep(5 * roundTrip)
		e.mu.Lock()
		e.lists["q"], e.vain = []string{"v"}, true
		e.mu.Unlock()
		before := e.all()
		for range 10_000 { // each attempt changes what masters hold, and they tell
			r.engine.observer.Changed(0, "q")
			time.Sleep(roundTrip)
		}
		e.mu.Lock()
		if n := e.asked[quorum.Run]; n > 30 {
			t.Errorf("the element was asked for %d times", n)
		}
		e.mu.Unlock()
		if n := e.all() - before; n > 3000 {
			t.Errorf("the masters were asked %d times", n)
		}
		e.mu.Lock()
		e.vain = false
		e.mu.Unlock()
		c.gets(popped("q", "v"), lookSpan+3*roundTrip)
		r.end()
	})
}

func TestBlockingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newBlockingRig(t, Config{})
		short, long, move, failed, killed := r.dial(), r.dial(), r.dial(), r.dial(), r.dial()
		began := time.Now()
		for c, text := range map[*client]string{short: "BLPOP q .0123", long: "BRPOP q 1.5", move: "BLMOVE q p LEFT LEFT .1", failed: "BLPOP q 0", killed: "BLPOP q 0"} {
			c.send(text + "\r\n")
		}
		for _, end := range []struct {
			c  *client
			at time.Duration
		}{{short, 13}, {move, 100}, {long, 1500}} {
			end.c.expect(gone)
			if d := time.Since(began) - roundTrip - end.at*time.Millisecond; d < -roundTrip || d > 0 {
				t.Errorf("it was told %v after %v ms", d, end.at)
			}
		}
		if n := r.server.blocked.count.Load(); n != 2 {
			t.Errorf("%d are blocked, want 2", n)
		}
		other := r.dial()
		other.send("CLIENT UNBLOCK 4 ERROR\r\nCLIENT UNBLOCK 4\r\nCLIENT UNBLOCK 5\r\n")
		other.expect(":1\r\n:0\r\n:1\r\n")
		failed.expect("-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n")
		killed.expect(gone)
		failed.send("BLPOP q 0\r\n")
		time.Sleep(3 * roundTrip)
		go r.end()
		failed.expectEnd(gone)
		r.end()
	})
}

// Nobody who is gone takes an element: not in line, and not while he asks.
func TestWhoGoesAwayTakesNoElement(t *testing.T) {
	for name, after := range map[string]time.Duration{"in line": 0, "as he asks": roundTrip + roundTrip/2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, e := newBlockingRig(t, Config{})
				leaves, stays, pusher := r.dial(), r.dial(), r.dial()
				for _, c := range []*client{leaves, stays} {
					c.send("BLPOP q 0\r\n")
					time.Sleep(3 * roundTrip)
				}
				if after > 0 {
					pusher.send("RPUSH q 1 2\r\n")
					time.Sleep(after)
				}
				leaves.nc.Close()
				if after == 0 {
					time.Sleep(roundTrip)
					pusher.send("RPUSH q 1 2\r\n")
				}
				stays.expect("*2\r\n$1\r\nq\r\n$1\r\n")
				time.Sleep(5 * roundTrip)
				e.mu.Lock()
				if n := len(e.lists["q"]); n != 1 {
					t.Errorf("%d elements are left, want 1", n)
				}
				e.mu.Unlock()
				r.end()
			})
		})
	}
}

// What comes behind a blocked command is carried out when that is answered.
func TestWhatComesBehindABlockedCommandWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		c, pusher := r.dial(), r.dial()
		c.send("BLPOP q 0\r\nPING\r\nRPUSH p x\r\nBLPOP p q 0\r\nBRPOP q .01\r\n")
		time.Sleep(2 * time.Second)
		e.mu.Lock()
		if n := len(e.lists["p"]); n != 0 {
			t.Errorf("a command went past one that is blocked")
		}
		e.mu.Unlock()
		pusher.send("RPUSH q a\r\n")
		c.expect(popped("q", "a") + "+PONG\r\n:1\r\n" + popped("p", "x") + gone)
		r.end()
	})
}

func TestWithoutAQuorumTheBlockedWaitOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		c := r.dial()
		c.send("BLPOP q 0\r\n")
		time.Sleep(3 * roundTrip)
		for _, mute := range []bool{true, false} {
			e.mu.Lock()
			if e.mute = mute; !mute {
				e.lists["q"] = []string{"v"}
			}
			e.mu.Unlock()
			time.Sleep(3 * time.Second)
		}
		c.expect(popped("q", "v"))
		e.mu.Lock()
		e.mute = true
		e.mu.Unlock()
		c.send("BLPOP q 0\r\n")
		c.expect("-NOQUORUM 0 of 3 masters can vote, 2 are needed\r\n")
		r.end()
	})
}
