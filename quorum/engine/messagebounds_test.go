package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

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

// A master that hangs makes nobody wait, and its lane keeps no more than its
// bound.
func TestMessagesForAHungMasterAreBounded(t *testing.T) {
	notInstrumented(t)
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

func TestFloodOfMessagesLeavesRoomForLocks(t *testing.T) {
	var o outbox
	for range maxOutbox {
		if !o.put("x", messageBounds) {
			t.Fatal("there was no room")
		}
	}
	if o.put("x", messageBounds) {
		t.Error("there was room beyond the bound")
	}
	if n := len(o.take(nil, maxBatch, messageBounds)); n != maxPublished || n >= maxBatch {
		t.Errorf("a batch takes %d messages", n)
	}
	if n := len(o.take(make([]errand, maxBatch), 0, messageBounds)); n != maxBatch {
		t.Errorf("a full batch grew to %d", n)
	}
	if o.bytes != len(o.list) {
		t.Errorf("%d bytes are counted for %d", o.bytes, len(o.list))
	}
}
