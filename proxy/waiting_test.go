package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/quorum"
)

// Some commands wait for those before them, before they have a place in the line of replies.
func TestWhoSendsWhatWaitsForAllBeforeDoesNotWait(t *testing.T) {
	for _, more := range []string{"PUBLISH c m", "FLUSHALL", "MGET" + strings.Repeat(" m", 300), "CLIENT REPLY OFF", "SUBSCRIBE c", "KEYS *", "QUIT"} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := newWaitingRig(t, time.Minute)
			holder, waits := r.dial(), r.dial()
			holder.tries("k", "a", 50_000)
			holder.gets(ok, roundTrip)
			waits.send("SET k b NX PX 1000\r\n" + more + "\r\n")
			waits.gets(refused, 3*roundTrip)
			waits.nc.Close()
			r.end()
		})
	}
}

// What is put to the masters is weighed by then, and what is not has taken no room.
func TestWhoStandsBehindOthersTakesNoRoomAmongWhatIsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newWaitingRig(t, 100*time.Millisecond)
		r.engine.weights = map[string]int{"k": lightWeight}
		clients := []*client{r.dial(), r.dial(), r.dial()}
		for i, reply := range []string{ok, "", ""} {
			clients[i].tries("k", "a", 50_000)
			if reply != "" {
				clients[i].gets(reply, roundTrip)
			}
			time.Sleep(5 * roundTrip)
		}
		clients[1].expect(refused)
		clients[2].expect(refused)
		synctest.Wait()
		if used := r.server.longs.used; used != 0 {
			t.Errorf("%d bytes of what is long are taken, and nothing is under way", used)
		}
		r.end()
	})
}

// A lock may be a hash, or anything.
func TestWhoMeetsAHashWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		l.held["k"] = kept{hash: true}
		waits, asks := r.dial(), r.dial()
		waits.tries("k", "a", 50_000)
		asks.send("SET k b NX GET PX 1000\r\n")
		asks.gets("-WRONGTYPE\r\n", roundTrip)
		time.Sleep(10 * time.Second)
		l.takeBack("k")
		waits.gets(ok, 2*time.Second)
		r.end()
	})
}

// A lock that a user waited for does not count any more when his client is gone.
func TestWhoGoesAwayFromALineHasItNotInHisQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const users = "user default on nopass ~* &* +@all\nuser u on nopass ~* +@all max-locks=1\n"
		r := newRig(t, Config{AcquireWait: time.Minute, Commands: commands.Options{Users: users}})
		l := &locks{held: make(map[string]kept), asked: make(map[quorum.Kind]int)}
		r.engine.auto = l.put
		holder, killed, other := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 500_000)
		holder.gets(ok, roundTrip)
		for _, c := range []*client{killed, other} {
			c.send("AUTH u x\r\n")
			c.expect(ok)
		}
		killed.tries("k", "b", 500_000)
		time.Sleep(5 * roundTrip)
		r.server.conn(2).cut()
		other.tries("another", "c", 500_000)
		other.gets(ok, roundTrip)
		r.end()
	})
}

// Each attempt is traced by itself, if it is: what is late of one is not to be told of the next.
func TestAnAttemptOfWhoWaitsIsTracedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer := &fakeTracer{once: true}
		r := newRig(t, Config{AcquireWait: time.Minute, Tracer: tracer})
		l := &locks{held: map[string]kept{"k": {}}, asked: make(map[quorum.Kind]int)}
		r.engine.auto = l.put
		r.dial().tries("k", "b", 1000)
		time.Sleep(5 * time.Second)
		if told := tracer.take(); len(told) != 1 {
			t.Errorf("of one attempt that was sampled it is told %d times", len(told))
		}
		r.end()
	})
}

// Who stands behind others wants the lock as they do, though the masters are not asked for it.
func TestWhoStandsBehindOthersIsToldOfByLOCKINFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newWaitingRig(t, time.Minute)
		for range 4 {
			r.dial().tries("k", "a", 50_000)
			time.Sleep(5 * roundTrip)
		}
		if list, _ := r.server.seen.Hottest(1, r.server.clock()); len(list) != 1 || len(list[0].Wanting) != 3 {
			t.Errorf("three clients wait for a lock, and this is told: %+v", list)
		}
		r.end()
	})
}

// Messages come behind all that a connection is owed, and so behind the end of a wait.
func TestWhoListensDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newWaitingRig(t, time.Minute)
		holder, listens := r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		listens.send("HELLO 3\r\n")
		listens.expectSomething()
		listens.send("SUBSCRIBE c\r\n")
		listens.expect(">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
		listens.tries("k", "b", 1000)
		listens.gets("_\r\n", roundTrip)
		r.end()
	})
}

// A holder may have his lock end sooner than it was to, or later.
func TestWhoWaitsHearsOfAnotherEnd(t *testing.T) {
	const extend = `EVAL "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end" 1 k a %d` + "\r\n"
	for _, ttl := range []int{100, 2000} {
		synctest.Test(t, func(t *testing.T) {
			r, l := newWaitingRig(t, time.Minute)
			holder, waits := r.dial(), r.dial()
			holder.tries("k", "a", 1000)
			holder.gets(ok, roundTrip)
			waits.tries("k", "b", 1000)
			time.Sleep(200 * time.Millisecond)
			attempts := l.count(quorum.Acquire)
			holder.send(fmt.Sprintf(extend, ttl))
			holder.gets(":1\r\n", roundTrip)
			end := time.Duration(ttl) * time.Millisecond
			waits.gets(ok, end+end/50+10*roundTrip)
			if n := l.count(quorum.Acquire) - attempts; n > 1+ttl/1000 {
				t.Errorf("a lock of %v was tried %d times", end, n)
			}
			r.end()
		})
	}
}

// torn answers acquires with a decision, though no quorum holds anything.
func torn(l *locks, acquire quorum.Decision) func(*fakeEngine, asked) {
	return func(_ *fakeEngine, a asked) {
		time.AfterFunc(roundTrip, func() {
			l.mu.Lock()
			l.asked[a.request.Kind]++
			l.mu.Unlock()
			result := won
			if a.request.Kind == quorum.Acquire {
				result.Decision = acquire
			}
			a.asker.Answer(result).Flush()
		})
	}
}

// Masters may hold different values, so that nobody has the lock and nobody can get it.
func TestWhoWaitsForWhatNobodyHoldsTriesItOnceASecond(t *testing.T) {
	for _, decision := range []quorum.Decision{quorum.Contended, quorum.Split} {
		synctest.Test(t, func(t *testing.T) {
			r, l := newWaitingRig(t, 10*time.Second)
			r.engine.auto = torn(l, decision)
			began, waits := time.Now(), r.dial()
			waits.tries("k", "a", 1000)
			waits.expect(refused)
			if d := time.Since(began); d < 10*time.Second {
				t.Errorf("%v: it was refused after %v", decision, d)
			}
			if attempts, looks := l.count(quorum.Acquire), l.count(quorum.Read); attempts > 12 || looks > 12 {
				t.Errorf("%v: in ten seconds there were %d attempts and %d looks", decision, attempts, looks)
			}
			r.end()
		})
	}
}

// Who is under way to the masters when the line begins has come before those who find it.
func TestWhoCameFirstStandsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newWaitingRig(t, time.Minute)
		holder, a, b, c := r.dial(), r.dial(), r.dial(), r.dial()
		holder.tries("k", "h", 50_000)
		holder.gets(ok, roundTrip)
		for i, next := range []*client{a, b, c} {
			next.tries("k", string("abc"[i]), 50_000)
			time.Sleep(roundTrip * 6 / 10)
		}
		time.Sleep(5 * roundTrip)
		holder.send("DEL k\r\n")
		holder.expect(":1\r\n")
		for _, next := range []*client{a, b, c} {
			next.gets(ok, 2*roundTrip)
			next.send("DEL k\r\n")
			next.expect(":1\r\n")
		}
		r.end()
	})
}

// Whose quota seems to be used up waits all the same, once the masters have told that it is not.
func TestWhoIsLookedIntoWaitsAsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const users = "user default on nopass ~* &* +@all\nuser u on nopass ~* +@all max-locks=1\n"
		r := newRig(t, Config{AcquireWait: time.Minute, Commands: commands.Options{Users: users}})
		l := &locks{held: map[string]kept{"k": {}}, asked: make(map[quorum.Kind]int)}
		r.engine.auto = l.put
		waits, other := r.dial(), r.dial()
		waits.send("AUTH u x\r\n")
		waits.expect(ok)
		waits.tries("another", "a", 500_000)
		waits.gets(ok, roundTrip)
		l.takeBack("another")
		waits.tries("k", "b", 500_000)
		time.Sleep(time.Second)
		other.send("DEL k\r\n")
		other.expect(":1\r\n")
		waits.gets(ok, 2*roundTrip)
		r.end()
	})
}
