package proxy

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Redis keeps all that was asked for, until it is read.
func TestWhoReadsIsNeverCutOffHoweverMuchWasAskedFor(t *testing.T) {
	for name, command := range map[string]string{
		"of what needs no request": "big 50000\r\n",
		"of what does":             "writelong k\r\n",
		"of much that is short":    "big 1000\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{Limits: Limits{MaxUnread: 100 << 10}})
				r.engine.auto = answerAtOnce
				c := r.dial()
				go c.send(strings.Repeat(command, 300))
				one := "$50000\r\n" + strings.Repeat("x", 50000) + "\r\n"
				if strings.HasSuffix(command, " 1000\r\n") {
					one = "$1000\r\n" + strings.Repeat("x", 1000) + "\r\n"
				}
				for range 300 {
					time.Sleep(time.Second)
					c.expect(one)
				}
				if got := r.server.stats.outputLimit.Load(); got != 0 {
					t.Errorf("%d clients were cut off", got)
				}
				r.end()
			})
		})
	}
}

func TestNothingMoreIsDoneForWhoDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{MaxUnread: 100 << 10}})
		r.engine.auto = answerAtOnce
		c := r.dial()
		go io.WriteString(c.nc, strings.Repeat("writelong k\r\n", 1000)) // which the end interrupts
		time.Sleep(unreadTimeout / 2)
		if got := len(strings.Fields(r.engine.keys())); got > 5 {
			t.Errorf("%d commands were carried out", got)
		}
		time.Sleep(unreadTimeout)
		if got := r.server.stats.outputLimit.Load(); got != 1 {
			t.Errorf("%d clients were cut off, want 1", got)
		}
		r.end()
	})
}

// TestWhoDoesNotReadIsGivenFewLongReplies of those that no master is asked for; what is
// answered by them has more room.
func TestWhoDoesNotReadIsGivenFewLongReplies(t *testing.T) {
	for command, most := range map[string]int{"big 50000\r\n": longUnread, "writelong k\r\n": 4 * longUnread} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{Limits: Limits{MaxUnread: 4 * longUnread}})
			r.engine.auto = answerAtOnce
			c := r.dial()
			go io.WriteString(c.nc, strings.Repeat(command, 1000)) // which the end interrupts
			synctest.Wait()
			s := r.server.conn(1)
			s.mu.Lock()
			if s.unread <= most-60_000 || s.unread > most+60_000 {
				t.Errorf("%q: %d bytes wait for who does not read, want some %d", command, s.unread, most)
			}
			s.mu.Unlock()
			r.end()
		})
	}
}

// A client may stand still while little waits for it, as one does in a debugger.
func TestWhoDoesNotReadALittleIsNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{MaxUnread: 100 << 10}})
		c := r.dial()
		c.send("big 20000\r\n")
		time.Sleep(10 * unreadTimeout)
		c.expect("$20000\r\n" + strings.Repeat("x", 20000) + "\r\n")
		r.end()
	})
}

func TestWhoReadsSlowlyIsNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Limits: Limits{MaxUnread: 100 << 10}})
		c := r.dial()
		c.send("big 200000\r\n")
		want := "$200000\r\n" + strings.Repeat("x", 200000) + "\r\n"
		for len(want) > 0 {
			time.Sleep(unreadTimeout - time.Second)
			n := min(1000, len(want))
			c.expect(want[:n])
			want = want[n:]
		}
		r.end()
	})
}

// A long reply has its place among short ones, whether these waited for masters or not.
func TestLongRepliesLeaveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("write a\r\nbig 50000\r\nping\r\nwritelong b\r\nping\r\nbig 20000\r\nbig 30000\r\nwrite c\r\n")
		synctest.Wait()
		r.engine.answer(t, "c", won)
		r.engine.answer(t, "b", won)
		c.expectSilence()
		r.engine.answer(t, "a", won)
		long := func(n string, count int) string { return "$" + n + "\r\n" + strings.Repeat("x", count) + "\r\n" }
		c.expect("$1\r\na\r\n" + long("50000", 50000) + "+PONG\r\n" + long("50000", 50000) + "+PONG\r\n" +
			long("20000", 20000) + long("30000", 30000) + "$1\r\nc\r\n")
		r.end()
	})
}

// What is owed is counted in the end as it was sent, though a long reply is only guessed.
func TestNothingIsOwedOnceAllIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.engine.auto = answerAtOnce
		c := r.dial()
		c.send("COMMAND\r\nacquire k\r\nbig 100000\r\nacquire l\r\n")
		go func() {
			buf := make([]byte, 4096)
			for {
				if _, err := c.nc.Read(buf); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		s := r.server.conn(1)
		s.mu.Lock()
		if s.unread != 0 || s.pushed != s.sent || s.promises.head != nil {
			t.Errorf("unread %d, pushed %d, sent %d", s.unread, s.pushed, s.sent)
		}
		s.mu.Unlock()
		r.end()
	})
}
