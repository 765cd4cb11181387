package proxy

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/commands"
	"redlock-proxy/commands/glob"
	"redlock-proxy/proxy/resp"
	"redlock-proxy/quorum"
)

// broadcast is the fake engine's part in publish and subscribe: what the masters
// would bring from other proxies, the test delivers.
type broadcast struct {
	mu        sync.Mutex
	to        quorum.Audience
	published []string
	deaf      bool          // no quorum can be heard
	hearing   chan struct{} // if not nil, Subscribe waits for it
}

func (b *broadcast) Attend(to quorum.Audience) { b.to = to }

func (b *broadcast) Publish(channel, message string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.published = append(b.published, channel+"="+message)
	return b.deliver(channel, message)
}

func (b *broadcast) deliver(channel, message string) int {
	n := b.to.Deliver(channel, message)
	b.to.Flush()
	return n
}

func (b *broadcast) Subscribe() quorum.Result {
	if b.hearing != nil {
		<-b.hearing
	}
	if b.deaf {
		return quorum.Result{Decision: quorum.Unavailable, Voted: 1, Needed: 2, Masters: 3}
	}
	return quorum.Result{Decision: quorum.Won, Voted: 2, Needed: 2, Masters: 3}
}

func push(words ...string) string { return pushed(">", words...) }

func pushed(kind string, words ...string) string {
	text := fmt.Sprintf("%s%d\r\n", kind, len(words))
	for _, w := range words {
		if strings.HasPrefix(w, ":") {
			text += w + "\r\n"
		} else {
			text += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
		}
	}
	return text
}

// speak3 switches to RESP3. In a synctest bubble only.
func (c *client) speak3() {
	c.t.Helper()
	c.send("HELLO 3\r\n")
	c.drain()
}

// drain reads what is there. In a synctest bubble only.
func (c *client) drain() {
	for {
		c.nc.SetReadDeadline(time.Now().Add(time.Millisecond))
		if n, _ := c.nc.Read(make([]byte, 4096)); n == 0 {
			return
		}
	}
}

// A message never overtakes a reply: it stands behind those that are owed.
func TestMessagesStandBehindRepliesThatAreOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.speak3()
		c.send("SUBSCRIBE a\r\nwrite k\r\nping\r\n")
		c.expect(push("subscribe", "a", ":1"))
		synctest.Wait()
		if n := r.engine.deliver("a", "one"); n != 1 {
			t.Errorf("%d receivers", n)
		}
		c.expectSilence()
		r.engine.answer(t, "k", won)
		c.expect("$1\r\nk\r\n+PONG\r\n" + push("message", "a", "one"))
		r.engine.deliver("a", "two")
		c.send("ping\r\n")
		c.expect(push("message", "a", "two") + "+PONG\r\n")
		r.end()
	})
}

func TestSubscriberIsAnsweredBeforeItsFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.engine.hearing = make(chan struct{})
		c := r.dial()
		c.send("ping\r\nSUBSCRIBE a b\r\n")
		c.expect("+PONG\r\n") // what it is owed does not wait
		c.expectSilence()
		if n := r.engine.deliver("a", "early"); n != 0 {
			t.Errorf("%d receivers before anybody was told that it has subscribed", n)
		}
		close(r.engine.hearing)
		c.expect(pushed("*", "subscribe", "a", ":1") + pushed("*", "subscribe", "b", ":2"))
		r.engine.deliver("a", "late")
		c.expect(pushed("*", "message", "a", "late"))
		r.end()
	})
}

func TestSubscribingWithoutAQuorumChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		r.engine.deaf = true
		c := r.dial()
		c.send("SUBSCRIBE a\r\nPSUBSCRIBE b*\r\nPUBSUB CHANNELS\r\n")
		sorry := "-NOQUORUM 1 of 3 masters can be heard, 2 are needed\r\n"
		c.expect(sorry + sorry + "*0\r\n")
		if n := r.engine.deliver("a", "m"); n != 0 {
			t.Errorf("%d receivers", n)
		}
		r.end()
	})
}

// Whoever is woken by a message must find what was asked for before it done.
func TestPublishWaitsForWhatWasAskedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		c := r.dial()
		c.send("write lock\r\nPUBLISH released lock\r\n")
		synctest.Wait()
		if r.engine.published != nil {
			t.Errorf("published while the release is undecided: %q", r.engine.published)
		}
		r.engine.answer(t, "lock", won)
		c.expect("$4\r\nlock\r\n:0\r\n")
		if len(r.engine.published) != 1 {
			t.Errorf("published: %q", r.engine.published)
		}
		r.end()
	})
}

// Many who come and go while messages fly: everything that was counted as
// delivered to one that stayed has arrived, in order, and nothing twice.
func TestMessagesArriveInOrderWhileOthersComeAndGo(t *testing.T) {
	r := newRig(t, Config{})
	stay := r.dialTCP()
	stay.send("SUBSCRIBE a\r\n")
	stay.expect(pushed("*", "subscribe", "a", ":1"))
	stop := make(chan struct{})
	var others sync.WaitGroup
	addr := stay.nc.RemoteAddr()
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c := r.dialAt(addr)
				c.send("SUBSCRIBE a b\r\nPSUBSCRIBE *\r\n")
				c.nc.Read(make([]byte, 64))
				c.nc.Close()
			}
		})
	}
	const n = 2000
	var publishers sync.WaitGroup
	for p := range 2 {
		publishers.Go(func() {
			for i := range n {
				r.engine.Publish("a", fmt.Sprintf("%d-%d", p, i))
			}
		})
	}
	var next [2]int
	for range 2 * n {
		head := "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n"
		stay.expect(head)
		var p, i int
		fmt.Sscanf(stay.bulk(), "%d-%d", &p, &i)
		if i != next[p] {
			t.Fatalf("publisher %d: message %d, want %d", p, i, next[p])
		}
		next[p]++
	}
	publishers.Wait()
	close(stop)
	others.Wait()
}

func TestPushesAreArraysInRESP2(t *testing.T) {
	several := commands.Reply{Kind: commands.SeveralReplies, Elems: []commands.Reply{commands.Push(commands.Bulk("a")), commands.Integer(1)}}
	for proto, want := range map[int]string{2: "*1\r\n$1\r\na\r\n:1\r\n", 3: ">1\r\n$1\r\na\r\n:1\r\n"} {
		if got := string(resp.Append(nil, &several, proto)); got != want {
			t.Errorf("RESP%d: %q, want %q", proto, got, want)
		}
	}
}

// What a pattern is compiled to lasts as long as somebody is subscribed to it, whatever others
// subscribe to meanwhile: to compile it takes as long as to match it with a long channel.
func TestPatternsAreCompiledOnceForAllMessages(t *testing.T) {
	var s subscribers
	glob := func(pattern string) *glob.Pattern { return s.patterns[pattern].glob }
	a, b := new(conn), new(conn)
	var long []string
	for i := range 60 {
		long = append(long, fmt.Sprintf("*%s%d", strings.Repeat("z", 900), i))
	}
	s.follow(a, long)
	first, channel := glob(long[0]), strings.Repeat("a", 1000)
	s.Deliver(channel, "m")
	if n := testing.AllocsPerRun(10, func() { s.Deliver(channel, "m") }); n > 20 {
		t.Errorf("a message takes %v allocations", n)
	}
	s.follow(b, append(long, "another"))
	s.Deliver(channel, "m")
	s.unsubscribe(a, nil, long)
	if glob(long[0]) != first {
		t.Error("it is compiled anew")
	}
	if n := len(s.seek()); n != 61 {
		t.Errorf("%d patterns are gone through", n)
	}
	s.unsubscribe(b, nil, append(long, "another"))
	if len(s.patterns) != 0 || len(s.seek()) != 0 {
		t.Errorf("%d patterns are left", len(s.patterns))
	}
}

// BenchmarkDeliver is to a channel that 1200 long patterns do not match.
func BenchmarkDeliver(b *testing.B) {
	for _, c := range []string{"a", "z"} {
		b.Run(c, func(b *testing.B) {
			var s subscribers
			for i := range 1200 {
				s.follow(new(conn), []string{fmt.Sprintf("*%s%d", strings.Repeat("z", 900), i)})
			}
			channel := strings.Repeat(c, 1000)
			for b.Loop() {
				s.Deliver(channel, "m")
			}
		})
	}
}
