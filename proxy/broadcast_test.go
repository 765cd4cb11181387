package proxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func TestClientsAreToldOfPrefixesWhetherTheyReadOrNot(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		some, all, none := tr.tracks("BCAST PREFIX app: PREFIX web:"), tr.tracks("BCAST"), tr.tracks("BCAST PREFIX other:")
		if !tr.engine.casts.Load() {
			t.Error("masters do not tell of all changes")
		}
		for m := range 3 {
			tr.engine.observer.Broadcasts(m, true)
		}
		for _, key := range []string{"app:1", "web:", "app", quorum.MarkerKey} {
			tr.engine.observer.Broadcast(1, key)
		}
		some.expect(invalid("app:1") + invalid("web:"))
		all.expect(invalid("app:1") + invalid("web:") + invalid("app"))
		tr.engine.observer.Broadcast(1, "")
		for _, c := range []*client{some, all, none} {
			c.expect(allInvalid)
		}
		tr.engine.observer.Broadcasts(2, false)
		for _, c := range []*client{some, all, none} {
			c.expect(allInvalid)
			c.expectSilence()
			c.nc.Close()
			time.Sleep(time.Millisecond)
		}
		if tr.engine.casts.Load() || tr.server.tracking.figures() != (TrackingFigures{}) {
			t.Errorf("nobody is told, and masters tell: %+v", tr.server.tracking.figures())
		}
	})
}

// While too few masters tell of all changes, what a client reads is told to be invalid at once, of the prefixes.
func TestReadsWithTooFewBroadcastsAreInvalidAtOnce(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("BCAST PREFIX app:")
		tr.reads(c, "app:k", alikeSays("v", 0, 1, 2))
		c.expect(invalid("app:k"))
		tr.reads(c, "k", alikeSays("v", 0, 1, 2))
		c.expectSilence()
		tr.engine.observer.Broadcasts(0, true)
		tr.engine.observer.Broadcasts(1, true)
		time.Sleep(time.Millisecond)
		tr.reads(c, "app:k", alikeSays("v", 0, 2))
		c.expect(invalid("app:k"))
		tr.reads(c, "app:k", alikeSays("v", 0, 1))
		c.expectSilence()
		if n := tr.engine.watches(); n != 0 {
			t.Errorf("%d keys were to be watched one by one", n)
		}
	})
}

func TestAnotherClientIsToldWhomOneHasNamed(t *testing.T) {
	for _, proto := range []int{2, 3} {
		withTrackers(t, func(tr *trackers) {
			hears := tr.dial()
			hears.send(fmt.Sprintf("HELLO %d\r\n", proto))
			time.Sleep(time.Millisecond)
			hears.discards()
			told := invalid("k")
			if proto == 2 {
				hears.send("SUBSCRIBE __redis__:invalidate\r\n")
				hears.expect("*3\r\n$9\r\nsubscribe\r\n$20\r\n__redis__:invalidate\r\n:1\r\n")
				told = "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n"
			}
			c := tr.tracks("REDIRECT 1")
			tr.reads(c, "k", alikeSays("v"))
			hears.expect(told)
			tr.registers("k", 0, 1, 2)
			tr.reads(c, "k", alikeSays("v", 0, 1))
			tr.engine.observer.Changed(0, "k")
			hears.expect(told)
			c.expectSilence()
			hears.nc.Close()
			time.Sleep(time.Millisecond)
			tr.reads(c, "k", alikeSays("v"))
			c.expect(">2\r\n$21\r\ntracking-redir-broken\r\n:1\r\n")
		})
	}
}

const extends = "EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end\" 1 k t 1000\r\n"

// Who has extended his lock, and read it by that, is told when it is seen that it is not his, or that nobody would tell.
func TestWhoExtendsIsToldOfWhatComesBehind(t *testing.T) {
	for name, test := range map[string]struct {
		told  bool
		after func(tr *trackers)
	}{
		"his": {false, func(tr *trackers) {
			tr.registers("k", 0, 1)
			tr.engine.answer(tr.t, "k", alikeSays("t", 0, 1))
		}},
		"another's": {true, func(tr *trackers) {
			tr.registers("k", 0, 1)
			tr.engine.answer(tr.t, "k", alikeSays("u", 0, 1))
		}},
		"changed meanwhile": {true, func(tr *trackers) {
			tr.registers("k", 0, 1)
			tr.engine.observer.Changed(1, "k")
			tr.engine.answer(tr.t, "k", alikeSays("t", 0, 1))
		}},
		"too few tell": {true, func(tr *trackers) {
			tr.registers("k", 0)
			time.Sleep(3 * time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			withTrackers(t, func(tr *trackers) {
				c := tr.tracks("NOLOOP")
				c.send(extends)
				synctest.Wait()
				tr.engine.answer(t, "k", quorum.Result{Decision: quorum.Won})
				c.expect(":1\r\n")
				c.expectSilence()
				test.after(tr)
				if test.told {
					c.expect(invalid("k"))
				}
				c.expectSilence()
			})
		})
	}
}

// What is remembered for clients is bounded: of the keys that go it is told.
func TestTrackedKeysAreBounded(t *testing.T) {
	withTrackers(t, func(tr *trackers) {
		c := tr.tracks("")
		tr.keeps(c, "first")
		long := strings.Repeat("k", 4000)
		there := func() bool {
			tr.server.tracking.mu.Lock()
			defer tr.server.tracking.mu.Unlock()
			return tr.server.tracking.keys["first"] != nil
		}
		for i := 0; i < mostTracked/len(long) || there() && i < 50*mostTracked/len(long); i++ { // which goes is chance
			tr.server.tracking.want(tr.server, 0, []string{fmt.Sprint(long, i)}, time.Second)
		}
		c.expect(invalid("first"))
		tr.server.tracking.mu.Lock()
		defer tr.server.tracking.mu.Unlock()
		if n := tr.server.tracking.bytes; n > mostTracked || n < mostTracked/2 {
			t.Errorf("%d bytes are taken", n)
		}
	})
}
