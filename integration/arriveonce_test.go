package integration

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

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
		listeners = append(listeners, listening(t, p)...)
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
		publishing.Go(func() { publishUntil(t, c, stop, i, &sent[i]) })
	}
	comingAndGoing(t, masters, proxies[:])
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
		l.wantEachOnce(i, sent[0].Load(), sent[1].Load())
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

// listening are two listeners at a proxy, of a channel and of a pattern that it matches.
func listening(t *testing.T, p *Proxy) []*collected {
	t.Helper()
	one, other := hears(t, p, "c"), dial(t, p.Addr)
	other.do("HELLO", "3")
	other.send("PSUBSCRIBE", "[a-c]")
	other.receive([]any{"psubscribe", "[a-c]", int64(1)})
	return []*collected{{talk: one}, {talk: other}}
}

// publishUntil publishes numbers, each of which two listeners at the proxy get, until it is
// stopped, and counts them.
func publishUntil(t *testing.T, c talk, stop chan struct{}, publisher int, sent *atomic.Int64) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if reply, err := c.Do("PUBLISH", "c", fmt.Sprintf("%d-%d", publisher, sent.Load())); err != nil || reply != int64(2) {
			t.Errorf("PUBLISH: %v, %v", reply, err)
			return
		}
		sent.Add(1)
		time.Sleep(time.Millisecond)
	}
}

// comingAndGoing has one master after the other be stopped, or killed, and come back.
func comingAndGoing(t *testing.T, masters []*Redis, proxies []*Proxy) {
	t.Helper()
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
}

// wantEachOnce wants a listener to have got so many messages of each publisher, and none twice.
func (l *collected) wantEachOnce(listener int, sent ...int64) {
	l.t.Helper()
	want := 1 // end
	for publisher, n := range sent {
		want += int(n)
		for number := range n {
			if got := l.got[fmt.Sprintf("%d-%d", publisher, number)]; got != 1 {
				l.t.Errorf("listener %d got message %d of publisher %d %d times", listener, number, publisher, got)
			}
		}
	}
	if len(l.got) != want {
		l.t.Errorf("listener %d got %d messages, want %d", listener, len(l.got), want)
	}
}
