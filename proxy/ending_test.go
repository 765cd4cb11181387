package proxy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestIdleClientsAreClosedAndOwedOnesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{Timeout: 10 * time.Second})
		idle, owed, busy := r.dial(), r.dial(), r.dial()
		owed.send("write k\r\n")
		for range 3 {
			time.Sleep(6 * time.Second)
			busy.send("ping\r\n")
			busy.expect("+PONG\r\n")
		}
		idle.expectEnd("")
		r.engine.answer(t, "k", won)
		owed.expect("$1\r\nk\r\n")
		owed.send("ping\r\n")
		owed.expect("+PONG\r\n")
		time.Sleep(21 * time.Second)
		owed.expectEnd("")
		r.end()
	})
}

func TestShutdownAnswersWhatWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		idle, c := r.dial(), r.dial()
		c.send("write k\r\nping\r\n*1\r\n$4\r\npi")
		synctest.Wait()
		ended := make(chan error)
		go func() { ended <- r.server.Shutdown(t.Context()) }()
		idle.expectEnd("")
		synctest.Wait()
		if r.server.Ready() {
			t.Error("a server that drains is ready")
		}
		r.engine.answer(t, "k", won)
		c.expectEnd("$1\r\nk\r\n+PONG\r\n")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.served.Wait() // Serve returned nil
		if err := r.server.Serve(newPipeListener()); err != nil {
			t.Errorf("Serve after Shutdown: %v", err)
		}
	})
}

func TestShutdownEndsByForceWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		never, unread := r.dial(), r.dial()
		never.send("write k\r\n")
		unread.send("ping\r\n") // and the pipe's other end does not read
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begun := time.Now()
		if err := r.server.Shutdown(ctx); err == nil {
			t.Error("no error although clients were cut off")
		}
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		never.expectEnd("")
		r.engine.answer(t, "k", won)
	})
}

func TestQuitRepliesAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("write k\r\nquit\r\nping\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", won)
		c.expectEnd("$1\r\nk\r\n+OK\r\n")
		r.end()
	})
}

func TestAClosingClientThatReadsSlowlyGetsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("big 300000\r\nquit\r\n")
		want := "$300000\r\n" + strings.Repeat("x", 300000) + "\r\n+OK\r\n"
		for len(want) > 0 {
			time.Sleep(3 * time.Second)
			n := min(60000, len(want))
			c.expect(want[:n])
			want = want[n:]
		}
		c.expectEnd("")

		c = r.dial()
		c.send("big 300000\r\n")
		synctest.Wait() // the writer is at work
		c.send("quit\r\n")
		time.Sleep(closeTimeout + time.Second)
		r.server.mu.Lock()
		left := len(r.server.conns)
		r.server.mu.Unlock()
		if left != 0 {
			t.Error("a closing client that does not read is kept")
		}
		r.end()
	})
}
