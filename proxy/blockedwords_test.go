package proxy

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// Who is answered an error has taken nothing: the next in line is.
func TestElementThatOneCannotTakeIsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		r.server.watch()
		e.wrong = "dst"
		mover, next, pusher := r.dial(), r.dial(), r.dial()
		mover.send("BLMOVE q dst LEFT RIGHT 0\r\n")
		time.Sleep(3 * roundTrip)
		next.send("BLPOP q 0\r\n")
		time.Sleep(3 * roundTrip)
		for master := range 3 {
			r.engine.observer.Watched(master, "q", true)
		}
		time.Sleep(3 * roundTrip)
		pusher.send("RPUSH q v\r\n")
		pusher.gets(":1\r\n", roundTrip)
		mover.gets("-WRONGTYPE no list\r\n", roundTrip)
		next.gets(popped("q", "v"), 6*roundTrip)
		r.end()
	})
}

func TestWordsOfBlockedCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := newBlockingRig(t, Config{})
		c := r.dial()
		for word, want := range map[string]string{
			"x": "timeout is not a float or out of range", "nan": "timeout is not a float or out of range", "-1": "timeout is negative",
			"inf": "timeout is out of range", "1e300": "timeout is out of range", "1_0": "timeout is not a float or out of range", "9223372036854776": "timeout is out of range", "-.0011": "timeout is negative",
		} {
			c.send("BLPOP q " + word + "\r\n")
			c.expect("-ERR " + want + "\r\n")
		}
		c.send("BLPOP q 1e-400\r\n")
		c.expect(gone)
		c.send("BLPOP q 9223372036854775\r\n")
		time.Sleep(time.Hour)
		r.dial().send("RPUSH q a\r\n")
		c.expect(popped("q", "a"))
		c.send("MULTI\r\nBLPOP q 0\r\nEXEC\r\n")
		c.expect("+OK\r\n+QUEUED\r\n*1\r\n" + gone)
		r.end()
	})
}

// The empty name is a key's like any other.
func TestChangeOfTheKeyWithoutANameIsNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		named, nameless, pusher := r.dial(), r.dial(), r.dial()
		named.send("BLPOP q 0\r\n")
		nameless.send("*3\r\n$5\r\nBLPOP\r\n$0\r\n\r\n$1\r\n0\r\n")
		time.Sleep(5 * roundTrip)
		before := e.all()
		pusher.send("*3\r\n$5\r\nRPUSH\r\n$0\r\n\r\n$1\r\nv\r\n")
		pusher.gets(":1\r\n", roundTrip)
		nameless.gets(popped("", "v"), roundTrip)
		time.Sleep(2 * roundTrip)
		if n := e.all() - before; n != 2 {
			t.Errorf("the masters were asked %d times, want for the push and the pop", n)
		}
		r.end()
	})
}

// A master that may have changed anything has not all lines looked at at once: others want to ask it as well.
func TestNotAllAreLookedAtAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := newBlockingRig(t, Config{})
		c := r.dial()
		c.send("BLPOP")
		for i := range 1000 {
			c.send(fmt.Sprint(" q", i))
		}
		c.send(" 30\r\n")
		looks := func() int {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.asked[quorum.Read]
		}
		time.Sleep(2*roundTrip + roundTrip/2)
		for before, n := 0, 0; n < 2000; before = n {
			if n = looks(); n-before > mostLooks || n == before {
				t.Fatalf("it has been looked %d times, and %d a round trip before", n, before)
			}
			if n == 1000 { // which are all
				r.engine.observer.Changed(0, "")
				time.Sleep(roundTrip / 2)
			}
			time.Sleep(roundTrip)
		}
		c.expect(gone)
		r.end()
	})
}
