package proxy

import (
	"testing"
	"testing/synctest"
	"time"
)

// shutdown begins one, whose error is to be had when it has ended.
func (r *rig) shutdown() <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- r.server.Shutdown(r.t.Context()) }()
	return ended
}

func (c *client) wantEndAfter(text string, least, most time.Duration) {
	c.t.Helper()
	begun := time.Now()
	c.expectEnd(text)
	if took := time.Since(begun); took < least || took > most {
		c.t.Errorf("the end came after %v, want %v to %v", took, least, most)
	}
}

func TestWhoAsksOftenIsClosedRightBehindAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c, checks := r.dial(), r.dial()
		c.send("write k\r\n")
		synctest.Wait()
		ended := r.shutdown()
		time.Sleep(2 * quietTime) // who is owed something is not quiet
		checks.wantEndAfter("", 0, 0)
		r.engine.answer(t, "k", won)
		c.wantEndAfter("$1\r\nk\r\n", 0, 0)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestWhoIsToldThatItIsThereIsNotClosedBehindThat: it is about to ask for something.
func TestWhoIsToldThatItIsThereIsNotClosedBehindThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		ended := r.shutdown()
		time.Sleep(quietTime / 2)
		c.send("ping\r\n")
		c.expect("+PONG\r\n")
		time.Sleep(quietTime / 2)
		c.send("write k\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", won)
		c.wantEndAfter("$1\r\nk\r\n", 0, 0)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestWhoIsQuietIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		quiet := r.dial()
		time.Sleep(quietTime)
		fresh := r.dial()
		synctest.Wait()
		ended := r.shutdown()
		quiet.wantEndAfter("", 0, 0)
		fresh.wantEndAfter("", quietTime, quietTime+partTick)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestWhoIsInTheMiddleOfSomethingGetsToFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		multi, watching, half := r.dial(), r.dial(), r.dial()
		multi.send("multi\r\n")
		multi.expect("+OK\r\n")
		half.send("*1\r\n$4\r\npi")
		watching.send("watch k\r\n")
		synctest.Wait()
		r.engine.answer(t, "k", won)
		watching.expect("+OK\r\n")
		ended := r.shutdown()
		time.Sleep(2 * quietTime)
		multi.send("exec\r\n")
		multi.wantEndAfter("*0\r\n", quietTime, quietTime+partTick)
		half.send("ng\r\n")
		half.wantEndAfter("+PONG\r\n", quietTime, quietTime+partTick)
		watching.send("unwatch\r\n")
		watching.wantEndAfter("+OK\r\n", quietTime, quietTime+partTick)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestWhoDoesNotFinishIsWaitedForHalfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("multi\r\n")
		c.expect("+OK\r\n")
		ended := r.shutdown()
		c.wantEndAfter("", partTime, partTime)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestWhoListensIsToldOfWhatOthersDoUntilTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		listens, publishes := r.dial(), r.dial()
		listens.send("subscribe c\r\n")
		listens.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
		publishes.send("multi\r\n")
		publishes.expect("+OK\r\n")
		ended := r.shutdown()
		time.Sleep(2 * quietTime)
		r.server.subscribers.Deliver("c", "m")
		r.server.subscribers.Flush()
		listens.expect("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n")
		publishes.send("discard\r\n")
		publishes.wantEndAfter("+OK\r\n", quietTime, quietTime+partTick)
		listens.wantEndAfter("", 0, partTick)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAServerThatLeavesServesAndIsNotReady(t *testing.T) {
	r := newRig(t, Config{})
	before := r.dialTCP()
	r.server.Leave()
	for _, c := range []*client{before, r.dialTCP()} {
		c.send("ping\r\n")
		c.expect("+PONG\r\n")
	}
	if r.server.Ready() || !r.server.Draining() {
		t.Errorf("ready %v, draining %v", r.server.Ready(), r.server.Draining())
	}
}
