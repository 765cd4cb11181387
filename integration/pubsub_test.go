package integration

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// TestMessagesArriveOnceWhileMastersComeAndGo: at each of two proxies somebody
// publishes all the time, and at each there are subscribers to the channel and
// to a pattern. Whatever happens to a minority of the masters, each of them gets
// every message, and none twice.
func TestMessagesArriveOnceWhileMastersComeAndGo(t *testing.T) {
	t.Parallel()
	masters := startMasters(t, 3)
	var proxies [2]*Proxy
	for i := range proxies {
		proxies[i] = startProxy(t, flags(masters)...)
	}
	var listeners []*collected
	for _, p := range proxies {
		c := hears(t, p, "c")
		listeners = append(listeners, &collected{talk: c})
		c = dial(t, p.Addr)
		c.do("HELLO", "3")
		c.send("PSUBSCRIBE", "[a-c]")
		c.receive([]any{"psubscribe", "[a-c]", int64(1)})
		listeners = append(listeners, &collected{talk: c})
	}
	for _, p := range proxies {
		awaitSubscriptions(t, p, 3)
	}
	var reading, publishing sync.WaitGroup
	for _, l := range listeners {
		reading.Go(l.collect)
	}
	stop := make(chan struct{})
	var sent [2]atomic.Int64
	for i, p := range proxies {
		c := dial(t, p.Addr)
		publishing.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if reply, err := c.Do("PUBLISH", "c", fmt.Sprintf("%d-%d", i, sent[i].Load())); err != nil || reply != int64(2) {
					t.Errorf("PUBLISH: %v, %v", reply, err)
					return
				}
				sent[i].Add(1)
				time.Sleep(time.Millisecond)
			}
		})
	}
	for i, m := range masters {
		time.Sleep(100 * time.Millisecond)
		if i == 1 {
			must(t, m.Freeze())
			for _, p := range proxies {
				awaitVoting(t, p, 2)
			}
			must(t, m.Thaw())
		} else {
			must(t, m.Kill())
			time.Sleep(400 * time.Millisecond)
			must(t, m.Restart())
		}
		for _, p := range proxies {
			awaitVoting(t, p, 3)
			awaitSubscriptions(t, p, 3)
		}
	}
	eventually(t, func() error {
		if n := min(sent[0].Load(), sent[1].Load()); n < 500 {
			return fmt.Errorf("only %d messages were published", n)
		}
		return nil
	})
	close(stop)
	publishing.Wait()
	for _, p := range proxies {
		dial(t, p.Addr).do("PUBLISH", "c", "end")
	}
	reading.Wait()
	for i, l := range listeners {
		for publisher := range sent {
			for number := range sent[publisher].Load() {
				if got := l.got[fmt.Sprintf("%d-%d", publisher, number)]; got != 1 {
					t.Errorf("listener %d got message %d of publisher %d %d times", i, number, publisher, got)
				}
			}
		}
		if want := int(sent[0].Load()+sent[1].Load()) + 1; len(l.got) != want {
			t.Errorf("listener %d got %d messages, want %d", i, len(l.got), want)
		}
	}
	t.Logf("%d and %d messages were published", sent[0].Load(), sent[1].Load())
}

// collected counts the messages that a listener gets, until both publishers have
// said that they end.
type collected struct {
	talk
	got map[string]int
}

func (l *collected) collect() {
	l.got = make(map[string]int)
	for l.got["end"] < 2 {
		reply, err := l.Receive()
		elems, ok := reply.([]any)
		if err != nil || !ok {
			l.t.Errorf("a listener got %v, %v", reply, err)
			return
		}
		l.got[elems[len(elems)-1].(string)]++
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
