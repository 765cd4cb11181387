package integration

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// hears is a client of the proxy that has subscribed to a channel.
func hears(t *testing.T, p *Proxy, channel string) talk {
	t.Helper()
	c := dial(t, p.Addr)
	c.send("SUBSCRIBE", channel)
	c.receive([]any{"subscribe", channel, int64(1)})
	return c
}

func (k talk) wantMessage(channel, message string) {
	k.t.Helper()
	k.receive([]any{"message", channel, message})
}

// wantNoMessage shows by a PING that nothing came before.
func (k talk) wantNoMessage() {
	k.t.Helper()
	k.send("PING", "nothing")
	k.receive([]any{"pong", "nothing"})
}

// awaitSubscriptions waits until n masters can be heard.
func awaitSubscriptions(t *testing.T, p *Proxy, n int) {
	t.Helper()
	want := fmt.Sprintf("subscriptions:%d\r\n", n)
	eventually(t, func() error {
		c := dial(t, p.Addr)
		defer c.Close()
		if info := c.text("INFO", "quorum"); !strings.Contains(info, want) {
			return fmt.Errorf("INFO has no %q:\n%s", want, info)
		}
		return nil
	})
}

// TestMessagesGoThroughTheMasters from one proxy to the other, and are none to
// whoever subscribes at a master itself.
func TestMessagesGoThroughTheMasters(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3)
	second := startProxy(t, flags(masters)...)
	here, there := hears(t, first, "c"), hears(t, second, "c")
	outside := direct(t, masters[0])
	outside.send("SUBSCRIBE", "c")
	outside.receive([]any{"subscribe", "c", int64(1)})
	publisher := dial(t, first.Addr)
	publisher.want(1, "PUBLISH", "c", "one")
	publisher.want(1, "PUBLISH", "c", "two\r\n")
	for _, c := range []talk{here, there} {
		c.wantMessage("c", "one")
		c.wantMessage("c", "two\r\n")
		c.wantNoMessage()
	}
	outside.wantNoMessage()
	ask(t, masters[1], "PUBLISH", "redlock-proxy:{messages}", "not an envelope")
	dial(t, second.Addr).want(1, "PUBLISH", "c", "three")
	for _, c := range []talk{here, there} {
		c.wantMessage("c", "three")
		c.wantNoMessage()
	}
}

// TestNoWakeUpIsLost: who finds the lock held subscribes, tries once more, and
// only then waits for the message, as Redisson does. One of the proxies is far
// away from a quorum of the masters, so that there is time for everything to go
// wrong: a subscriber that is told too early that it has subscribed, the first
// one of a proxy above all, and a message that overtakes the release it tells of.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	masters, near := startQuorum(t, 3)
	relays := relayed(t, masters)
	for _, r := range relays {
		r.Requests.Delay(10 * time.Millisecond)
	}
	for round := range 4 {
		far := startProxy(t, relayFlags(relays)...)
		for turn := range 4 {
			at, held := far, near
			relays[0].Requests.Delay(10 * time.Millisecond)
			if turn%2 == 1 {
				at, held = near, far
				relays[0].Requests.Delay(0)
			}
			key := fmt.Sprintf("k%d-%d", round, turn)
			after := time.Duration(5*((round+turn)%4)) * time.Millisecond
			holder, waiter, ear := dial(t, held.Addr), dial(t, at.Addr), dial(t, at.Addr)
			holder.want("OK", "SET", key, "h", "NX", "PX", milliseconds(ttl))
			waiter.want(nil, "SET", key, "w", "NX", "PX", milliseconds(ttl))
			var release sync.WaitGroup
			release.Go(func() {
				time.Sleep(after)
				holder.SendRaw(append(Encode("DEL", key), Encode("PUBLISH", "released:"+key, "0")...))
			})
			ear.send("SUBSCRIBE", "released:"+key)
			ear.receive([]any{"subscribe", "released:" + key, int64(1)})
			if waiter.do("SET", key, "w", "NX", "PX", milliseconds(ttl)) != "OK" {
				ear.wantMessage("released:"+key, "0")
				waiter.want("OK", "SET", key, "w", "NX", "PX", milliseconds(ttl))
			}
			release.Wait()
			holder.receive(1)
		}
	}
}

// TestScriptPublishesOnceWhenItsQuorumStands: Spring's unlock, which tells the
// waiters. A stranger's tells nobody.
func TestScriptPublishesOnceWhenItsQuorumStands(t *testing.T) {
	t.Parallel()
	masters, first := startQuorum(t, 3)
	second := startProxy(t, flags(masters)...)
	const unlink = `local lockClientId = redis.call('GET', KEYS[1])
if (lockClientId == ARGV[1] and redis.call('UNLINK', KEYS[1]) == 1) then
	redis.call('PUBLISH', ARGV[2], KEYS[1])
	return true
end
return false`
	here, there := hears(t, first, "freed"), hears(t, second, "freed")
	c := dial(t, first.Addr)
	for range 2 {
		c.want("OK", "SET", "k", "t", "NX", "PX", milliseconds(ttl))
		c.want(nil, "EVAL", unlink, "1", "k", "stranger", "freed")
		c.want(1, "EVAL", unlink, "1", "k", "t", "freed")
		here.wantMessage("freed", "k")
		there.wantMessage("freed", "k")
		must(t, masters[2].Freeze())
	}
	// One that writes nothing is no less heard, and another database is no reason.
	c.want("OK", "SELECT", "3")
	c.do("EVAL", "return redis.call('PUBLISH', KEYS[1], ARGV[1])", "1", "freed", "bare")
	here.wantMessage("freed", "bare")
	there.wantMessage("freed", "bare")
	c.want("OK", "SET", "k", "t", "NX", "PX", milliseconds(ttl))
	c.want(1, "EVAL", unlink, "1", "k", "t", "freed")
	here.wantMessage("freed", "k")
	there.wantMessage("freed", "k")
	here.wantNoMessage()
	there.wantNoMessage()
}

// text2 is the second element of an array, as text.
func (k talk) text2(t *testing.T, args ...string) string {
	t.Helper()
	elems, ok := k.do(args...).([]any)
	if !ok || len(elems) < 2 {
		t.Fatalf("%q: no array of two", args)
	}
	return strconv.FormatInt(elems[1].(int64), 10)
}
