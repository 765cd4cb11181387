package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
)

const hurried = "user default on nopass ~* &* +@all\nuser bob on nopass ~* &* +@all max-rate=10 max-ttl=1s\n" +
	"user ann on nopass ~* &* +@all max-locks=1\n"

// Who sends more than he may is answered later, by whatever of his connections; nobody else is.
func TestWhoSendsMoreThanHeMayWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: hurried}})
		bob, again, other := r.dial(), r.dial(), r.dial()
		for _, c := range []*client{bob, again} {
			c.send("AUTH bob x\r\n")
			c.expect("+OK\r\n")
		}
		began := time.Now()
		bob.send(strings.Repeat("PING\r\n", 5))
		again.send(strings.Repeat("PING\r\n", 5))
		other.send(strings.Repeat("PING\r\n", 50))
		other.expect(strings.Repeat("+PONG\r\n", 50))
		if d := time.Since(began); d != 0 {
			t.Errorf("another user waits %v", d)
		}
		bob.expect(strings.Repeat("+PONG\r\n", 5))
		again.expect(strings.Repeat("+PONG\r\n", 5))
		if d := time.Since(began); d != 900*time.Millisecond {
			t.Errorf("ten commands took %v, want 900 ms: the first of them waits for nothing", d)
		}
		if n := r.server.stats.delayed.Load(); n != 9 {
			t.Errorf("%d commands were delayed, want 9", n)
		}
		// What waits keeps nobody from ending its connection, nor the server.
		bob.send(strings.Repeat("PING\r\n", 100))
		other.send("CLIENT KILL USER bob\r\n")
		other.expect(":2\r\n")
		bob.expectEnd("")
		began = time.Now()
		again.expectEnd("")
		again = r.dial()
		again.send("AUTH bob x\r\nPING\r\n")
		again.expect("+OK\r\n+PONG\r\n")
		if d := time.Since(began); d > 200*time.Millisecond {
			t.Errorf("a command waits %v for those that were never carried out", d)
		}
		r.end()
	})
}

// Who shows that he is somebody else does not wait behind those who are the user default.
func TestNobodyWaitsBehindTheUserDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: strings.Replace(hurried, "+@all", "+@all max-rate=1", 1)}})
		anybody := r.dial()
		anybody.send("PING\r\nAUTH bob x\r\nPING\r\n")
		began := time.Now()
		for range 2 {
			bob := r.dial()
			bob.send("AUTH bob x\r\nPING\r\n")
			bob.expect("+OK\r\n+PONG\r\n")
		}
		if d := time.Since(began); d > 200*time.Millisecond {
			t.Errorf("bob waits %v", d)
		}
		anybody.expect("+PONG\r\n+OK\r\n+PONG\r\n")
		if d := time.Since(began); d < time.Second {
			t.Errorf("the user default waits %v, want a second", d)
		}
		r.end()
	})
}

// A rate that is changed is one for those who wait already, within a second.
func TestWhoWaitsIsHeldToTheRateThatIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: hurried}})
		other, began := r.dial(), time.Now()
		other.send("ACL SETUSER bob max-rate=1\r\n")
		other.expect("+OK\r\n")
		var all []*client
		for range 100 {
			bob := r.dial()
			bob.send("AUTH bob x\r\nPING\r\n")
			bob.expect("+OK\r\n")
			all = append(all, bob)
		}
		other.send("ACL SETUSER bob max-rate=100\r\n")
		other.expect("+OK\r\n")
		for _, bob := range all {
			bob.expect("+PONG\r\n")
		}
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("a hundred commands took %v at a hundred a second", d)
		}
		r.end()
	})
}

// What a user takes too much of is told as other denials are.
func TestWhatAUserTakesTooMuchOfIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: hurried}})
		bob := r.dial()
		bob.send("AUTH bob x\r\nSET k v NX PX 1001\r\n")
		bob.expect("+OK\r\n-NOPERM User bob may take no lock for longer than 1s, or for ever (max-ttl)\r\n")
		told := fmt.Sprint(r.server.aclLog.latest(1, 0))
		if !strings.Contains(told, " limit ") || !strings.Contains(told, " k ") || !strings.Contains(told, "user=bob") {
			t.Errorf("ACL LOG: %s", told)
		}
		bob.send("MULTI\r\nDEL k\r\nSET later v\r\nEXEC\r\n")
		bob.expect("+OK\r\n+QUEUED\r\n+QUEUED\r\n" +
			"-EXECABORT Transaction discarded because of: NOPERM User bob may take no lock for longer than 1s, or for ever (max-ttl)\r\n")
		if told := fmt.Sprint(r.server.aclLog.latest(1, 0)); !strings.Contains(told, " limit ") || !strings.Contains(told, " later ") {
			t.Errorf("ACL LOG: %s", told)
		}
		if n := r.server.Figures().Denied; n != [6]uint64{5: 2} {
			t.Errorf("denied: %v", n)
		}
		r.end()
	})
}

// A lock that was never asked for, as the connection has ended before, counts no more.
func TestALockThatMastersAreNotAskedForDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Commands: commands.Options{Users: hurried}})
		ann, again, other := r.dial(), r.dial(), r.dial()
		ann.send("AUTH ann x\r\nEVAL \"return redis.call('del', KEYS[1])\" 1 k\r\nSET k v NX\r\n")
		ann.expect("+OK\r\n")
		synctest.Wait()
		again.send("AUTH ann x\r\nSET free v NX\r\n")
		again.expect("+OK\r\n-NOPERM User ann holds or awaits 1 locks, as many as he may (max-locks)\r\n")
		other.send("CLIENT KILL USER ann SKIPME yes ID 1\r\n")
		other.expect(":1\r\n")
		ann.expectEnd("")
		synctest.Wait()
		again.send("SET free v NX\r\n")
		synctest.Wait()
		if asked := r.engine.keys(); !strings.HasSuffix(asked, ":free") {
			t.Errorf("masters were asked for %s, want free last", asked)
		}
		r.end()
	})
}
