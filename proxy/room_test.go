package proxy

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// locks is an engine that keeps strings as one perfect master, a round trip away.
type locks struct {
	mu    sync.Mutex
	held  map[string]kept
	asked map[quorum.Kind]int
	mute  bool // no quorum can be had
}

type kept struct {
	token string
	ends  time.Time // zero: never
	hash  bool      // it is none of a string
}

const roundTrip = time.Millisecond

func (l *locks) put(_ *fakeEngine, a asked) {
	time.AfterFunc(roundTrip, func() {
		a.asker.Answer(l.carryOut(&a.request)).Flush()
	})
}

func (l *locks) find(key string) (kept, bool) {
	k, ok := l.held[key]
	if ok && !k.ends.IsZero() && !time.Now().Before(k.ends) {
		delete(l.held, key)
		return kept{}, false
	}
	return k, ok
}

func (l *locks) carryOut(r *quorum.Request) (result quorum.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[r.Kind]++
	if l.mute {
		return quorum.Result{Decision: quorum.Unavailable, Needed: 2, Masters: 3}
	}
	k, there := l.find(r.Key)
	won := quorum.Result{Decision: quorum.Won}
	switch r.Kind {
	case quorum.Acquire:
		if there && k.hash {
			return quorum.Result{Decision: quorum.Contended, Exists: true, Type: "another", Reply: quorum.Reply{Kind: quorum.FailureReply, Str: "WRONGTYPE"}}
		} else if there {
			return quorum.Result{Decision: quorum.Contended}
		}
		k = kept{token: r.Token}
		if r.TTL > 0 {
			k.ends = time.Now().Add(r.TTL + r.TTL/100 + 2*time.Millisecond)
		}
		l.held[r.Key] = k
	case quorum.Release, quorum.Extend:
		if k.token != r.Token {
			return quorum.Result{Decision: quorum.Contended}
		}
		if delete(l.held, r.Key); r.Kind == quorum.Release {
			break
		}
		l.held[r.Key] = kept{token: k.token, ends: time.Now().Add(r.TTL + r.TTL/100 + 2*time.Millisecond)}
	case quorum.Remove:
		delete(l.held, r.Key)
	case quorum.Read:
		won.Exists, won.Type, won.Value, won.TTL = there, "string", k.token, quorum.NoTTL
		if !k.ends.IsZero() {
			left := time.Until(k.ends)
			won.TTL = max(left-left/100-2*time.Millisecond, time.Millisecond)
		}
	}
	return won
}

func (l *locks) takeBack(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, key)
}

func (l *locks) count(kinds ...quorum.Kind) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, kind := range kinds {
		n += l.asked[kind]
	}
	return n
}

func newWaitingRig(t *testing.T, wait time.Duration) (*rig, *locks) {
	r := newRig(t, Config{AcquireWait: wait, Commands: commands.Options{Users: "user default on nopass ~* &* +@all\n"}})
	l := &locks{held: make(map[string]kept), asked: make(map[quorum.Kind]int)}
	r.engine.mu.Lock()
	r.engine.auto = l.put
	r.engine.mu.Unlock()
	return r, l
}

const release = "DELEX %s IFEQ %s\r\n"

func (c *client) tries(key, token string, ttl int) {
	c.send(fmt.Sprintf("SET %s %s NX PX %d\r\n", key, token, ttl))
}

// gets wants an answer so long from now.
func (c *client) gets(reply string, within time.Duration) {
	c.t.Helper()
	began := time.Now()
	c.expect(reply)
	if d := time.Since(began); d > within {
		c.t.Errorf("%q came after %v, want %v at most", reply, d, within)
	}
}

const (
	ok      = "+OK\r\n"
	refused = "$-1\r\n"
)

func TestWhoWaitsGetsTheLockInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		clients := make([]*client, 20)
		for i := range clients {
			clients[i] = r.dial()
			clients[i].tries("k", fmt.Sprint(i), 50_000)
			if i == 0 {
				clients[i].gets(ok, roundTrip)
			}
			time.Sleep(5 * roundTrip)
		}
		if n := r.server.room.count.Load(); n != 19 {
			t.Errorf("%d wait, want 19", n)
		}
		attempts, looks := l.count(quorum.Acquire), l.count(quorum.Read)
		for i, c := range clients[:19] {
			c.send(fmt.Sprintf(release, "k", fmt.Sprint(i)))
			c.gets(":1\r\n", roundTrip)
			clients[i+1].gets(ok, roundTrip)
		}
		if a, b := l.count(quorum.Acquire)-attempts, l.count(quorum.Read)-looks; a != 19 || b != 0 {
			t.Errorf("for 19 releases the masters were asked for %d acquires and %d reads", a, b)
		}
		if looks > 2 {
			t.Errorf("they were asked %d times when the lock ends", looks)
		}
		r.end()
	})
}

func TestWhoWaitsTooLongIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newWaitingRig(t, 300*time.Millisecond)
		holder, waits, late := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		began := time.Now()
		waits.tries("k", "b", 1000)
		time.Sleep(100 * time.Millisecond)
		late.send("SETNX k c\r\n")
		waits.expect(refused)
		if d := time.Since(began); d < 300*time.Millisecond || d > 305*time.Millisecond {
			t.Errorf("it was refused after %v", d)
		}
		late.expect(":0\r\n")
		if d := time.Since(began); d < 400*time.Millisecond || d > 405*time.Millisecond {
			t.Errorf("the second was refused after %v", d)
		}
		if n := r.server.room.count.Load(); n != 0 || len(r.server.room.lines) != 0 {
			t.Errorf("%d wait in %d lines", n, len(r.server.room.lines))
		}
		r.end()
	})
}

// By the end of its ttl, through the masters, or by another's FLUSHALL: whatever frees it.
func TestWhoWaitsLearnsThatALockIsFree(t *testing.T) {
	for name, free := range map[string]struct {
		how    func(r *rig, l *locks)
		within time.Duration
	}{
		"it expires":         {func(*rig, *locks) { time.Sleep(1800 * time.Millisecond) }, 30 * time.Millisecond},
		"DEL":                {func(r *rig, _ *locks) { c := r.dial(); c.send("DEL k\r\n"); c.expect(":1\r\n") }, roundTrip},
		"at a master":        {func(_ *rig, l *locks) { l.takeBack("k") }, time.Second + 2*roundTrip},
		"a master tells":     {func(r *rig, l *locks) { l.takeBack("k"); r.engine.observer.Changed(0, "k") }, 2 * roundTrip},
		"a master is lost":   {func(r *rig, l *locks) { l.takeBack("k"); r.engine.observer.Changed(0, "") }, 2 * roundTrip},
		"by another's flush": {func(r *rig, l *locks) { l.takeBack("k"); c := r.dial(); c.send("FLUSHDB\r\n"); c.expect(ok) }, 2 * roundTrip},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, l := newWaitingRig(t, time.Minute)
				holder, waits := r.dial(), r.dial()
				holder.tries("k", "a", 2000)
				holder.gets(ok, roundTrip)
				waits.tries("k", "b", 1000)
				time.Sleep(200 * time.Millisecond)
				free.how(r, l)
				waits.gets(ok, free.within)
				r.end()
			})
		})
	}
}

// Replies come in order, so whoever sends more would keep himself from being answered.
func TestWhoSendsMoreDoesNotWait(t *testing.T) {
	for _, more := range []struct{ command, reply string }{
		{"PING\r\n", "+PONG\r\n"}, {"GET k\r\n", "$1\r\na\r\n"}, {"DELEX k IFEQ a\r\n", ":1\r\n"}, {"SET k c NX\r\n", ""},
	} {
		for _, pause := range []time.Duration{0, roundTrip, 100 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				r, _ := newWaitingRig(t, time.Minute)
				holder, waits := r.dial(), r.dial()
				holder.tries("k", "a", 50_000)
				holder.gets(ok, roundTrip)
				if pause > 0 {
					waits.tries("k", "b", 1000)
					time.Sleep(pause)
					waits.send(more.command)
				} else {
					waits.send("SET k b NX PX 1000\r\n" + more.command)
				}
				waits.gets(refused+more.reply, 3*roundTrip)
				r.end()
			})
		}
	}
}

// Who goes away leaves the line, and has no lock by it.
func TestWhoGoesAwayLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		holder, gone, killed, waits := r.dial(), r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		for i, c := range []*client{gone, killed, waits} {
			c.tries("k", fmt.Sprint("b", i), 50_000)
			time.Sleep(5 * roundTrip)
		}
		gone.nc.Close()
		time.Sleep(5 * roundTrip)
		if n := r.server.room.count.Load(); n != 2 {
			t.Errorf("%d wait, want 2", n)
		}
		r.server.conn(3).cut()
		before := l.count(quorum.Acquire)
		holder.send(fmt.Sprintf(release, "k", "a"))
		holder.gets(":1\r\n", roundTrip)
		waits.gets(ok, roundTrip)
		if n := l.count(quorum.Acquire) - before; n != 1 {
			t.Errorf("%d acquires for one release", n)
		}
		r.end()
	})
}

func TestShutdownAnswersThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newWaitingRig(t, time.Hour)
		holder, waits, second := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		waits.tries("k", "b", 1000)
		time.Sleep(5 * roundTrip)
		second.tries("k", "c", 1000) // whom nobody has asked for yet
		time.Sleep(5 * roundTrip)
		began := time.Now()
		go r.end()
		waits.expectEnd(refused)
		second.expectEnd(refused)
		if d := time.Since(began); d > 50*time.Millisecond {
			t.Errorf("they were answered after %v", d)
		}
		r.end()
	})
}

func TestWithoutAQuorumNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, 10*time.Second)
		holder, waits := r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		waits.tries("k", "b", 1000)
		time.Sleep(100 * time.Millisecond)
		l.mu.Lock()
		l.mute = true
		l.mu.Unlock()
		waits.gets("-NOQUORUM 0 of 3 masters can vote, 2 are needed\r\n", time.Second)
		r.end()
	})
}

func TestWaitIsEndedByClientUnblock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newWaitingRig(t, time.Hour)
		holder, first, second := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		first.tries("k", "b", 1000)
		time.Sleep(5 * roundTrip)
		second.tries("k", "c", 1000) // whom nobody has asked for yet
		time.Sleep(5 * roundTrip)
		holder.send("CLIENT UNBLOCK 1\r\nCLIENT UNBLOCK 2 TIMEOUT\r\nCLIENT UNBLOCK 3 ERROR\r\nCLIENT UNBLOCK 2\r\n")
		holder.gets(":0\r\n:1\r\n:1\r\n:0\r\n", 0)
		first.gets(refused, 0)
		second.gets("-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n", 0)
		r.end()
	})
}
