package engine

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

// listeners is an audience that writes down what it gets.
type listeners struct {
	mu      sync.Mutex
	got     []string
	flushed int // how many of them were flushed
	deaf    bool
}

func (l *listeners) Deliver(channel, message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf {
		return 0
	}
	l.got = append(l.got, channel+"="+message)
	return 1
}

func (l *listeners) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushed = len(l.got)
}

// take tells what was delivered, all of which must have been flushed.
func (l *listeners) take(t *testing.T) []string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flushed < len(l.got) {
		t.Errorf("%d of %d messages were flushed", l.flushed, len(l.got))
	}
	got := l.got
	l.got, l.flushed = nil, 0
	return got
}

// pair is two proxies over the same masters, both with subscribers.
type pair struct {
	*world
	engines [2]*Engine
	heard   [2]*listeners
}

func inPair(t *testing.T, n int, f func(p *pair)) {
	t.Helper()
	inWorld(t, n, func(w *world) {
		p := &pair{world: w, engines: [2]*Engine{w.engine, w.start(w.cfg)}}
		for i, e := range p.engines {
			p.heard[i] = new(listeners)
			e.Attend(p.heard[i])
			p.want(e.Subscribe(), quorum.Won)
		}
		w.settle()
		f(p)
	})
}

// publish publishes through the first proxy.
func (p *pair) publish(message string) {
	p.t.Helper()
	if n := p.engines[0].Publish("c", message); n != 1 {
		p.t.Errorf("%q reached %d subscribers at once, want 1", message, n)
	}
}

// wantHeard compares what the subscribers of both got since it was last asked.
func (p *pair) wantHeard(messages ...string) {
	p.t.Helper()
	synctest.Wait()
	for i, l := range p.heard {
		got := l.take(p.t)
		want := make([]string, len(messages))
		for j, m := range messages {
			want[j] = "c=" + m
		}
		if !slices.Equal(got, want) {
			p.t.Errorf("the subscribers of proxy %d got %q, want %q", i+1, got, want)
		}
	}
}

func TestMessageReachesEverySubscriberOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		inPair(t, n, func(p *pair) {
			p.publish("one")
			p.publish("two")
			p.settle()
			p.wantHeard("one", "two")
			for _, m := range p.masters {
				if got := len(m.commands("PUBLISH " + messages.Channel + " 1 ")); got != 2 {
					t.Errorf("%s carried %d messages", m.name, got)
				}
			}
			if st := p.engines[0].Status(); st.MessagesPublished != 2 || st.MessagesShort != 0 || st.MessagesReceived != 0 || st.Subscriptions != n {
				t.Errorf("the publisher's status is %+v", st)
			}
			if st := p.engines[1].Status(); st.MessagesPublished != 0 || st.MessagesReceived != 2 {
				t.Errorf("the other's status is %+v", st)
			}
		})
	}
}

func TestMessageNeedsNoMoreThanAQuorum(t *testing.T) {
	for name, trouble := range map[string]func(p *pair){
		"down":     func(p *pair) { p.down(3) },
		"frozen":   func(p *pair) { p.masters[2].freeze() },
		"slow":     func(p *pair) { p.masters[2].set(func(m *fakeMaster) { m.lag = 300 * time.Millisecond }) },
		"blank":    func(p *pair) { p.masters[2].restartBlank() },
		"severed":  func(p *pair) { p.masters[2].sever() },
		"refusing": func(p *pair) { p.masters[2].set(func(m *fakeMaster) { m.respond = refusePublish }) },
	} {
		t.Run(name, func(t *testing.T) {
			inPair(t, 3, func(p *pair) {
				trouble(p)
				p.publish("one")
				p.settle()
				p.wantHeard("one")
				time.Sleep(3 * time.Second)
				p.publish("two")
				p.settle()
				p.wantHeard("two")
				p.masters[2].set(func(m *fakeMaster) { m.lag, m.respond, m.refuse = 0, nil, false })
				p.masters[2].unfreeze()
				time.Sleep(3 * time.Second)
				p.wantHeard()
				for _, e := range p.engines {
					if st := e.Status(); st.Subscriptions != 3 {
						t.Errorf("%d subscriptions stand afterwards", st.Subscriptions)
					}
				}
				p.down(1)
				p.publish("three")
				p.settle()
				p.wantHeard("three")
			})
		})
	}
}

func refusePublish(args []string) string {
	if args[0] == "PUBLISH" {
		return "-NOPERM this user has no permissions to access one of the channels used as arguments\r\n"
	}
	return ""
}

func TestMessageWithoutMastersIsDeliveredHere(t *testing.T) {
	inPair(t, 3, func(p *pair) {
		p.down(1, 2, 3)
		p.publish("one")
		if st := p.engines[0].Status(); st.MessagesShort != 1 {
			t.Errorf("%d messages fell short", st.MessagesShort)
		}
		p.up(1, 2, 3)
		time.Sleep(time.Second)
		if got := p.heard[0].take(t); !slices.Equal(got, []string{"c=one"}) {
			t.Errorf("the subscribers here got %q", got)
		}
		if got := p.heard[1].take(t); got != nil {
			t.Errorf("the others got %q", got)
		}
	})
}

func TestMessagesOfOneProxyKeepTheirOrder(t *testing.T) {
	inPair(t, 3, func(p *pair) {
		var want []string
		for i := range 1000 {
			p.masters[i%3].set(func(m *fakeMaster) { m.lag = time.Duration(i%7) * time.Millisecond })
			want = append(want, fmt.Sprint(i))
			p.publish(want[i])
			if i%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(10 * time.Second)
		p.wantHeard(want...)
	})
}
