package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

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

// A proxy that nobody consults, nor a client subscribes at, has one connection to each master.
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

// Others are to be heard though no client listens.
func TestProxyThatIsConsultedSubscribesAtOnce(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.engine.Consult(nil)
		w.settle()
		if st := w.engine.Status(); st.Subscriptions != 3 {
			t.Errorf("%d subscriptions stand", st.Subscriptions)
		}
		w.engine.Consult(new(clerk))
		began := time.Now()
		w.want(w.engine.Subscribe(), quorum.Won)
		for _, m := range w.masters {
			if got := len(m.commands("SUBSCRIBE")); got != 1 || time.Since(began) != 0 {
				t.Errorf("%s was subscribed to %d times", m.name, got)
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
