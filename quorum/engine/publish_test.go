package engine

import (
	"fmt"
	"slices"
	"strings"
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
				if got := len(m.commands("PUBLISH " + messages.Channel)); got != 2 {
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

// slowAudience is an audience that takes its time.
type slowAudience struct {
	listeners
	hold chan struct{}
}

func (s *slowAudience) Deliver(channel, message string) int {
	<-s.hold
	return s.listeners.Deliver(channel, message)
}

// What patterns there are to be matched clients decide, and it may take as long as it will.
func TestMessagesThatTakeLongToDeliverHoldUpNoLane(t *testing.T) {
	inPair(t, 3, func(p *pair) {
		slow := []*slowAudience{{hold: make(chan struct{})}, {hold: make(chan struct{})}}
		for i, e := range p.engines {
			e.Attend(slow[i])
		}
		p.want(p.ask(runOf(tellScript, "k", "one", "two")), quorum.Contended)
		published := make(chan int)
		go func() { published <- p.engines[0].Publish("c", "three") }()
		synctest.Wait()
		began := time.Now()
		for i := range 10 {
			p.want(p.acquire(fmt.Sprint("lock", i), "t", time.Minute), quorum.Won)
			p.want(p.ask(runOf(tellScript, "k", fmt.Sprint(i))), quorum.Contended)
		}
		if took := time.Since(began); took > p.cfg.AcquireTimeout/4 {
			t.Errorf("ten locks took %v", took)
		}
		select {
		case <-published:
			t.Error("the publisher was told how many have got what nobody has")
		default:
		}
		for _, s := range slow {
			close(s.hold)
		}
		if n := <-published; n != 1 {
			t.Errorf("%d subscribers", n)
		}
		p.settle()
		want := []string{"c=one", "c=two", "c=three", "c=0", "c=1", "c=2", "c=3", "c=4", "c=5", "c=6", "c=7", "c=8", "c=9"}
		for i, s := range slow {
			if got := s.take(t); !slices.Equal(got, want) {
				t.Errorf("proxy %d delivered %q", i+1, got)
			}
		}
	})
}

// Where messages wait for those to whom they are to be delivered, locks do not, nor do the
// scripts that have published them.
func TestMessagesThatAreNotDeliveredKeepNoLockWaiting(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		slow := &slowAudience{hold: make(chan struct{})}
		w.engine.Attend(slow)
		const runs, each = 11, 400
		for range runs {
			w.want(w.ask(runOf(tellScript, "k", slices.Repeat([]string{"x"}, each)...)), quorum.Contended)
		}
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		if st := w.engine.Status(); st.MessagesPublished != runs*each || st.MessagesShort == 0 {
			t.Errorf("%d were published, %d fell short", st.MessagesPublished, st.MessagesShort)
		}
		close(slow.hold)
		synctest.Wait()
		if st, n := w.engine.Status(), len(slow.take(t)); uint64(n) != runs*each-st.MessagesShort {
			t.Errorf("%d were delivered, %d fell short", n, st.MessagesShort)
		}
	})
}

func TestPublishingAtAnEngineThatEndsReturns(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.engine.Attend(new(listeners))
		w.stop(w.engine)
		if n := w.engine.Publish("c", "m"); n != 0 {
			t.Errorf("%d subscribers", n)
		}
	})
}

// A client that is told that it has subscribed must hear of everything from
// then on, so it is told when a quorum of the subscriptions stands.
func TestSubscribingWaitsForAQuorum(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for i, m := range w.masters {
			m.set(func(m *fakeMaster) { m.lag = time.Duration(i+1) * 10 * time.Millisecond })
		}
		w.want(w.engine.Subscribe(), quorum.Won)
		subscribed := 0
		for _, m := range w.masters {
			subscribed += len(m.commands("SUBSCRIBE"))
		}
		if subscribed != 2 {
			t.Errorf("answered when %d masters were subscribed to", subscribed)
		}
		began := time.Now()
		w.want(w.engine.Subscribe(), quorum.Won)
		if took := time.Since(began); took != 0 {
			t.Errorf("the second subscriber waited %v", took)
		}
	})
}

func TestNobodySubscribesBeforeAClientDoes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.engine.Publish("c", "m")
		time.Sleep(time.Minute)
		for _, m := range w.masters {
			dials := 0
			m.locked(func() { dials = m.dials })
			if got := m.commands("SUBSCRIBE"); got != nil || dials != 1 {
				t.Errorf("%s got %q on %d connections", m.name, got, dials)
			}
		}
	})
}

func TestSubscribingWithoutAQuorumIsUnavailable(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(1, 2)
		began := time.Now()
		r := w.engine.Subscribe()
		w.want(r, quorum.Unavailable)
		if r.Voted != 1 || r.Needed != 2 || r.Masters != 3 {
			t.Errorf("the result is %+v", r)
		}
		if took := time.Since(began); took != w.cfg.AcquireTimeout {
			t.Errorf("it took %v", took)
		}
		w.up(1)
		w.want(w.engine.Subscribe(), quorum.Won)
	})
}

func TestServerConfiguredTwiceIsHeardOnce(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		if r := w.engine.Subscribe(); r.Decision != quorum.Unavailable || r.Voted != 1 {
			t.Errorf("the result is %+v", r)
		}
	}, func(cfg *Config) {
		dial := cfg.Masters[0].Dial
		cfg.Masters[1].Dial, cfg.Masters[2].Dial = dial, dial
	})
}

func TestSubscriptionToAFrozenMasterIsGivenUp(t *testing.T) {
	inPair(t, 3, func(p *pair) {
		time.Sleep(time.Minute) // silence alone is no reason
		if st := p.engines[1].Status(); st.Subscriptions != 3 {
			t.Fatalf("%d subscriptions stand after a silence", st.Subscriptions)
		}
		p.masters[0].freeze()
		time.Sleep(p.cfg.ProbeInterval + p.cfg.MasterTimeout + time.Millisecond)
		if st := p.engines[1].Status(); st.Subscriptions != 2 {
			t.Errorf("%d subscriptions stand", st.Subscriptions)
		}
	})
}

func TestRubbishFromAMasterIsNotDelivered(t *testing.T) {
	inPair(t, 3, func(p *pair) {
		for _, text := range []string{"hello", "1 s 1 99 ab", strings.Repeat("x", 1<<17)} {
			p.masters[0].set(func(m *fakeMaster) { m.publish(messages.Channel, text) })
		}
		p.settle()
		p.wantHeard()
		p.masters[0].set(func(m *fakeMaster) {
			for id := range m.subscribers {
				if conn := m.conns[id]; conn != nil {
					conn.Write([]byte("*3\r\n$-7\r\n"))
				}
			}
		})
		time.Sleep(time.Second)
		if st := p.engines[0].Status(); st.Subscriptions != 3 {
			t.Errorf("%d subscriptions stand after what is no RESP", st.Subscriptions)
		}
		p.publish("one")
		p.settle()
		p.wantHeard("one")
	})
}

// A master that hangs makes nobody wait, and its lane keeps no more than its
// bound.
func TestMessagesForAHungMasterAreBounded(t *testing.T) {
	inPair(t, 3, func(p *pair) {
		p.masters[2].freeze()
		p.engines[0].Publish("c", "x")
		synctest.Wait()
		big := strings.Repeat("x", 1<<20)
		began := time.Now()
		for range 3 * maxOutboxBytes / len(big) {
			p.engines[0].Publish("c", big)
			synctest.Wait()
		}
		for range 2 * maxOutbox {
			p.engines[0].Publish("c", "")
			synctest.Wait()
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("publishing took %v", took)
		}
		l := p.engines[0].zero.lanes[2]
		l.mu.Lock()
		if n := len(l.queue.outbox.list); n == 0 || n > maxOutbox || l.queue.outbox.bytes > maxOutboxBytes {
			t.Errorf("%d messages of %d bytes wait", n, l.queue.outbox.bytes)
		}
		l.mu.Unlock()
		if n := len(p.heard[1].take(t)); n != 1+3*maxOutboxBytes/len(big)+2*maxOutbox {
			t.Errorf("the other proxy's subscribers got %d messages", n)
		}
		time.Sleep(2 * time.Second)
		l.mu.Lock()
		if l.queue.outbox.bytes != 0 || l.queue.outbox.list != nil {
			t.Errorf("a master that is gone has %d messages waiting", len(l.queue.outbox.list))
		}
		l.mu.Unlock()
	})
}

func TestMessageLongerThanAnEnvelopeStaysHere(t *testing.T) {
	inPair(t, 3, func(p *pair) {
		p.publish(strings.Repeat("x", messages.MaxEnvelope))
		p.settle()
		if here, there := len(p.heard[0].take(t)), len(p.heard[1].take(t)); here != 1 || there != 0 {
			t.Errorf("%d here, %d there", here, there)
		}
		if st := p.engines[0].Status(); st.MessagesShort != 1 {
			t.Errorf("%d messages fell short", st.MessagesShort)
		}
	})
}

func TestClosingEndsWaitingForSubscriptions(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each((*fakeMaster).freeze, 1, 2, 3)
		answered := make(chan quorum.Result)
		go func() { answered <- w.engine.Subscribe() }()
		synctest.Wait()
		began := time.Now()
		w.stop(w.engine)
		w.want(<-answered, quorum.Unavailable)
		w.want(w.engine.Subscribe(), quorum.Unavailable)
		if took := time.Since(began); took >= w.cfg.AcquireTimeout {
			t.Errorf("it took %v", took)
		}
	})
}

func TestFloodOfMessagesLeavesRoomForLocks(t *testing.T) {
	var o outbox
	for range maxOutbox {
		if !o.put("x") {
			t.Fatal("there was no room")
		}
	}
	if o.put("x") {
		t.Error("there was room beyond the bound")
	}
	if n := len(o.take(nil, maxBatch)); n != maxPublished || n >= maxBatch {
		t.Errorf("a batch takes %d messages", n)
	}
	if n := len(o.take(make([]errand, maxBatch), 0)); n != maxBatch {
		t.Errorf("a full batch grew to %d", n)
	}
	if o.bytes != len(o.list) {
		t.Errorf("%d bytes are counted for %d", o.bytes, len(o.list))
	}
}
