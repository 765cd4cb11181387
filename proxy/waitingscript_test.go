package proxy

import (
	"crypto/sha1"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

const (
	takes = `local n = redis.call('setnx', KEYS[1], ARGV[1]) if n == 1 then redis.call('pexpire', KEYS[1], ARGV[2]) end return n`
	adds  = `return redis.call('exists',KEYS[1])<1 and redis.call('setex',KEYS[1],ARGV[2],ARGV[1])`
)

func (c *client) takesBy(script, token string, ttl int) {
	c.send(fmt.Sprintf("EVAL \"%s\" 1 k %s %d\r\n", script, token, ttl))
}

// In one line with those who ask by SET NX, and each is answered in his own words.
func TestScriptsThatTakeALockWaitInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		holder, byText, plain, byName := r.dial(), r.dial(), r.dial(), r.dial()
		holder.takesBy(takes, "a", 50_000)
		holder.gets(":1\r\n", roundTrip)
		byText.takesBy(takes, "b", 50_000)
		time.Sleep(5 * roundTrip)
		plain.tries("k", "c", 50_000)
		time.Sleep(5 * roundTrip)
		byName.send(fmt.Sprintf("EVALSHA %x 1 k d 1000\r\n", sha1.Sum([]byte(takes))))
		time.Sleep(5 * roundTrip)
		attempts := l.count(quorum.Acquire)
		for i, next := range []struct {
			*client
			reply string
		}{{byText, ":1\r\n"}, {plain, ok}, {byName, ":1\r\n"}} {
			holder.send(fmt.Sprintf(release, "k", string("abc"[i])))
			holder.gets(":1\r\n", roundTrip)
			next.gets(next.reply, roundTrip)
		}
		if n := l.count(quorum.Acquire) - attempts; n != 3 {
			t.Errorf("for 3 releases the masters were asked for %d acquires", n)
		}
		r.end()
	})
}

func TestAScriptIsRefusedInItsOwnWords(t *testing.T) {
	for script, no := range map[string]string{takes: ":0\r\n", "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])": refused} {
		synctest.Test(t, func(t *testing.T) {
			r, l := newWaitingRig(t, 300*time.Millisecond)
			holder, waits, behind := r.dial(), r.dial(), r.dial()
			holder.tries("k", "a", 50_000)
			holder.gets(ok, roundTrip)
			began := time.Now()
			waits.takesBy(script, "b", 1000)
			time.Sleep(5 * roundTrip)
			behind.takesBy(script, "c", 1000)
			waits.expect(no)
			if d := time.Since(began); d < 300*time.Millisecond || d > 305*time.Millisecond {
				t.Errorf("it was refused after %v", d)
			}
			behind.gets(no, 10*roundTrip)
			waits.takesBy(script, "b", 1000)
			time.Sleep(5 * roundTrip)
			waits.send("PING\r\n")
			waits.gets(no+"+PONG\r\n", 2*roundTrip)
			waits.takesBy(script, "b", 1000)
			time.Sleep(5 * roundTrip)
			holder.send("CLIENT UNBLOCK 2 ERROR\r\n")
			holder.expect(":1\r\n")
			waits.gets("-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n", 0)
			l.mu.Lock()
			l.mute = true
			l.mu.Unlock()
			waits.takesBy(script, "b", 1000)
			waits.gets("-NOQUORUM 0 of 3 masters can vote, 2 are needed\r\n", roundTrip)
			r.end()
		})
	}
}

// A script that a client is gone from holds nothing by its turn.
func TestAScriptLeavesTheLineWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := newWaitingRig(t, time.Minute)
		holder, gone, waits := r.dial(), r.dial(), r.dial()
		holder.tries("k", "a", 50_000)
		holder.gets(ok, roundTrip)
		gone.takesBy(takes, "b", 50_000)
		time.Sleep(5 * roundTrip)
		waits.takesBy(takes, "c", 50_000)
		time.Sleep(5 * roundTrip)
		gone.nc.Close()
		time.Sleep(5 * roundTrip)
		attempts := l.count(quorum.Acquire)
		holder.send(fmt.Sprintf(release, "k", "a"))
		holder.gets(":1\r\n", roundTrip)
		waits.gets(":1\r\n", roundTrip)
		if n := l.count(quorum.Acquire) - attempts; n != 1 {
			t.Errorf("%d acquires for one release", n)
		}
		r.end()
	})
}

// Whose no is nobody's lock is answered at once, and so is a transaction.
func TestWhatIsNoAcquireDoesNotWait(t *testing.T) {
	for name, c := range map[string]struct{ command, reply string }{
		"what fills a cache":     {"EVAL \"" + adds + "\" 1 k b 9", ":0\r\n"},
		"a release of another's": {"EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end\" 1 k b", ":0\r\n"},
		"without all arguments":  {"EVAL \"" + takes + "\" 1 k b", ":0\r\n"},
		"in silence":             {"CLIENT REPLY SKIP\r\nEVAL \"" + takes + "\" 1 k b 1000\r\nPING", "+PONG\r\n"},
		"in a transaction":       {"MULTI\r\nSET k b NX PX 1000\r\nEXEC", "+OK\r\n+QUEUED\r\n*1\r\n$-1\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, l := newWaitingRig(t, time.Minute)
				holder, other := r.dial(), r.dial()
				holder.tries("k", "a", 50_000)
				holder.gets(ok, roundTrip)
				r.engine.mu.Lock()
				r.engine.auto = func(e *fakeEngine, a asked) {
					if a.request.Kind != quorum.Run {
						l.put(e, a)
						return
					}
					no := quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply}}
					time.AfterFunc(roundTrip, func() { a.asker.Answer(quorum.Result{Decision: quorum.Contended, Script: &no}).Flush() })
				}
				r.engine.mu.Unlock()
				other.send(c.command + "\r\n")
				other.gets(c.reply, 2*roundTrip)
				r.end()
			})
		})
	}
}
