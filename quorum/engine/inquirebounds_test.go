package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/messages"
)

// told has the masters say what is published at them themselves.
func (o *office) told(letter string) {
	for _, m := range o.masters {
		m.set(func(m *fakeMaster) { m.publish(messages.Channel, letter) })
	}
}

// What one proxy asks without end costs the others so much, and keeps neither locks nor messages
// nor the questions of others waiting.
func TestFloodOfQuestionsCostsOthersBoundedWork(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		heard := new(listeners)
		o.engines[1].Attend(heard)
		o.wantAnswers(time.Second, 2)
		o.clerks[1].asked()
		flooded := time.Now()
		for round := range 5 {
			for n := range 200 {
				o.told(fmt.Sprintf("question1 flood %d who?", 200*round+n+1))
				time.Sleep(2 * ms)
			}
			began := time.Now()
			o.want(o.acquire(fmt.Sprint("k", round), "t", time.Minute), quorum.Won)
			o.engines[0].Publish("c", "m")
			if o.settle(); time.Since(began) > 25*ms || !slices.Equal(heard.take(t), []string{"c=m"}) {
				t.Errorf("a lock and a message took %v", time.Since(began))
			}
			if answers, took := o.inquire(1, "x", 1); len(answers) != 1 || took > 5*askedEvery {
				t.Errorf("answered: %+v after %v", answers, took)
			}
		}
		most := askedAtOnce + int(time.Since(flooded)/askedEvery) + 1
		if asked := len(o.clerks[1].asked()); asked > most || asked < most/2 {
			t.Errorf("%d questions were answered, at most %d may be", asked, most)
		}
	})
}

// A proxy whose clients have it ask without end is no flood to the others.
func TestQuestionsOfOneProxyAreBounded(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		o.wantAnswers(time.Second, 2)
		o.clerks[1].asked()
		var answered atomic.Int32
		began := time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				answers, _ := o.inquire(1, "x", 0)
				answered.Add(int32(len(answers)))
			})
		}
		all.Wait()
		asked := len(o.clerks[1].asked())
		if most := askedAtOnce + int(time.Since(began)/askedEvery); asked > most || asked < askedAtOnce {
			t.Errorf("%d were asked in %v, at most %d may be", asked, time.Since(began), most)
		}
		if n := int(answered.Load()); n > asked || n < asked-maxInquiries || time.Since(began) > time.Second {
			t.Errorf("%d of %d were answered within %v", n, asked, time.Since(began))
		}
		time.Sleep(time.Second)
		o.wantAnswers(0, 2)
	})
}

// What a hung master is to be sent is bounded, and takes nothing of the messages' room.
func TestLettersForAHungMasterTakeNoRoomOfMessages(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		o.masters[2].freeze()
		o.engines[0].inquiries.Greet() // it is about to be sent
		o.settle()
		for range 10 {
			o.engines[0].inquiries.Ask(strings.Repeat("x", quorum.MaxQuestion)).End(false)
			o.settle()
		}
		for range 2 * letterBounds.most {
			o.engines[0].inquiries.Greet()
		}
		o.engines[0].Publish("c", "m")
		q := &o.engines[0].zero.lanes[2].queue
		q.mu.Lock()
		if n := len(q.letters.list); n != letterBounds.most || q.letters.bytes > letterBounds.bytes || len(q.outbox.list) != 1 {
			t.Errorf("%d letters of %d bytes and %d messages wait", n, q.letters.bytes, len(q.outbox.list))
		}
		q.mu.Unlock()
		time.Sleep(2 * time.Second)
		q.mu.Lock()
		if q.letters.list != nil || q.letters.bytes != 0 {
			t.Errorf("a master that is gone has %d letters waiting", len(q.letters.list))
		}
		q.mu.Unlock()
	})
	var o outbox
	for range 3 * letterBounds.bytes / quorum.MaxQuestion {
		o.put(strings.Repeat("x", quorum.MaxQuestion), letterBounds)
	}
	if o.bytes > letterBounds.bytes {
		t.Errorf("%d bytes wait", o.bytes)
	}
	if n := len(o.take(nil, maxBatch, letterBounds)); n != letterBounds.inBatch {
		t.Errorf("a batch takes %d letters", n)
	}
}

// Letters that are too many for one batch go with the next, whether anything else does or not.
func TestLettersThatABatchHasNoRoomForGoWithTheNext(t *testing.T) {
	for name, in := range map[string]func(*testing.T, func(w *world)){
		"near": func(t *testing.T, f func(w *world)) { inWorld(t, 3, f) },
		"far":  inFarWorld,
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(w *world) {
				o := &office{world: w}
				o.joins(w.engine)
				o.joins(w.start(w.cfg))
				time.Sleep(100 * ms)
				o.wantAnswers(time.Second, 2)
				for _, m := range o.masters {
					m.set(func(m *fakeMaster) { m.lag, m.log = 10*ms, nil })
				}
				o.engines[0].inquiries.Greet()
				synctest.Wait() // until it is on its way
				const more = 3
				for range more * letterBounds.inBatch {
					o.engines[0].inquiries.Greet()
				}
				time.Sleep(o.cfg.ProbeInterval / 2)
				for _, m := range o.masters {
					if n := len(m.commands("PUBLISH " + messages.Channel + " question1 ")); n != 1+more*letterBounds.inBatch {
						t.Errorf("%s has got %d letters", m.name, n)
					}
				}
				if answers, took := o.inquire(1, "x", 0); len(answers) != 1 || took >= time.Second {
					t.Errorf("answered: %+v after %v", answers, took)
				}
			})
		})
	}
}

// What a client publishes is a message, whatever it looks like, and no client gets a letter.
func TestClientsNeitherForgeLettersNorGetThem(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		heard := []*listeners{new(listeners), new(listeners)}
		for i, e := range o.engines {
			e.Attend(heard[i])
		}
		o.wantAnswers(time.Second, 2)
		o.clerks[1].asked()
		for i, forged := range []string{"question1 forger 1 x", "answer1 forger 1 " + o.engines[1].zero.name + " 1 x"} {
			for _, channel := range []string{messages.Channel, forged} {
				o.engines[0].Publish(channel, forged)
				o.settle()
				for _, l := range heard {
					if got := l.take(t); !slices.Equal(got, []string{channel + "=" + forged}) {
						t.Errorf("forgery %d: %q was delivered", i, got)
					}
				}
			}
		}
		if got := o.clerks[1].asked(); got != nil {
			t.Errorf("asked: %q", got)
		}
		o.wantAnswers(0, 2) // and the forger is nobody who is waited for
	})
}

// Masters whose user may not subscribe are told of once each, and tried once in a probe-interval;
// all else is as it was.
func TestProxyThatMayNotListenLocksAllTheSame(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		attempts := make([]int, len(w.masters)) // each guarded by its master
		for i, m := range w.masters {
			m.set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if args[0] != "SUBSCRIBE" {
						return ""
					}
					attempts[i]++
					return "-NOPERM this user has no permissions to run the 'subscribe' command\r\n"
				}
			})
		}
		w.engine.Consult(new(clerk))
		time.Sleep(time.Minute)
		for i := range 10 {
			w.want(w.acquire(fmt.Sprint(i), "t", time.Minute), quorum.Won)
		}
		if found := log.lines("cannot be heard"); len(found) != len(w.masters) {
			t.Errorf("logged: %q", found)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		if answers := w.engine.Inquire(ctx, "x", 0); answers != nil || time.Since(began) > w.cfg.AcquireTimeout {
			t.Errorf("answered: %+v after %v", answers, time.Since(began))
		}
		for i, m := range w.masters {
			m.set(func(m *fakeMaster) {
				if most := int(time.Minute/w.cfg.ProbeInterval) + 2; attempts[i] > most || attempts[i] < most/2 {
					t.Errorf("%s was tried %d times in a minute", m.name, attempts[i])
				}
				m.respond = nil
			})
		}
		time.Sleep(3 * time.Second)
		if st := w.engine.Status(); st.Subscriptions != 3 || len(log.lines("heard again")) != 3 {
			t.Errorf("%d subscriptions stand", st.Subscriptions)
		}
	})
}

// Of a master that is down its lane tells, which finds out later than who listens.
func TestMasterThatGoesIsNotSaidToBeUnheard(t *testing.T) {
	operated(t, func(w *world, log *logged) {
		w.engine.Consult(nil)
		w.settle()
		for range 10 {
			w.masters[2].cut()
			time.Sleep(3 * time.Second)
			w.masters[2].rejoin()
			time.Sleep(3 * time.Second)
		}
		if found := log.lines("heard"); found != nil || len(log.lines("master is down")) == 0 {
			t.Errorf("logged: %q", found)
		}
	})
}
