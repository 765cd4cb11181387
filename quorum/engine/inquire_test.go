package engine

import (
	"context"
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

// clerk is a colleague that answers with its name and the question, but for "nothing", and writes
// down what it was asked.
type clerk struct {
	name string
	mu   sync.Mutex
	got  []string
}

func (c *clerk) Asked(question string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.got = append(c.got, question); question == "nothing" {
		return ""
	}
	return c.name + ": " + question
}

// asked are the questions since it was last looked.
func (c *clerk) asked() (got []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got, c.got = c.got, nil
	return got
}

// office is several proxies over the same masters, none of which has subscribers.
type office struct {
	*world
	engines []*Engine
	clerks  []*clerk
}

func inOffice(t *testing.T, masters, proxies int, f func(o *office)) {
	t.Helper()
	inWorld(t, masters, func(w *world) {
		o := &office{world: w}
		o.joins(w.engine)
		for range proxies - 1 {
			o.joins(w.start(w.cfg))
		}
		f(o)
	})
}

// joins has a proxy answer, and be heard of.
func (o *office) joins(e *Engine) {
	c := &clerk{name: fmt.Sprint("proxy ", len(o.engines)+1)}
	o.engines, o.clerks = append(o.engines, e), append(o.clerks, c)
	e.Consult(c)
	o.settle()
}

// inquire has a proxy, counted from 1, ask for a second at most, and tells how long it took.
func (o *office) inquire(proxy int, question string, enough int) (answers []quorum.Answer, took time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	began := time.Now()
	answers = o.engines[proxy-1].Inquire(ctx, question, enough)
	return answers, time.Since(began)
}

// wantAnswers has proxy 1 ask, and wants the proxies of these numbers to answer, after so long.
func (o *office) wantAnswers(after time.Duration, from ...int) {
	o.t.Helper()
	answers, took := o.inquire(1, "x", 0)
	var want []quorum.Answer
	for _, n := range from {
		want = append(want, quorum.Answer{Proxy: o.engines[n-1].zero.name, Text: fmt.Sprintf("proxy %d: x", n)})
	}
	byText := func(a, b quorum.Answer) int { return strings.Compare(a.Text, b.Text) }
	if slices.SortFunc(answers, byText); !slices.Equal(answers, want) {
		o.t.Errorf("answered: %+v, want %+v", answers, want)
	}
	if took != after {
		o.t.Errorf("it took %v, want %v", took, after)
	}
}

func TestQuestionIsAnsweredByAllOtherProxiesOnce(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		inOffice(t, n, 3, func(o *office) {
			o.wantAnswers(time.Second, 2, 3) // there may be more of them
			o.wantAnswers(0, 2, 3)
			if answers, took := o.inquire(2, "nothing", 0); answers != nil || took != time.Second {
				t.Errorf("to nothing: %+v after %v", answers, took)
			}
			if answers, took := o.inquire(2, "nothing", 0); answers != nil || took != 0 {
				t.Errorf("to nothing: %+v after %v", answers, took)
			}
			for i, want := range [][]string{{"nothing", "nothing"}, {"x", "x"}, {"x", "x", "nothing", "nothing"}} {
				if got := o.clerks[i].asked(); !slices.Equal(got, want) {
					t.Errorf("proxy %d was asked: %q", i+1, got)
				}
			}
			if st := o.engines[0].Status(); st.Subscriptions != n || st.MessagesPublished+st.MessagesShort+st.MessagesReceived != 0 {
				t.Errorf("the status is %+v", st)
			}
		})
	}
}

func TestLoneProxyWaitsForOthersOnceAMinute(t *testing.T) {
	inOffice(t, 3, 1, func(o *office) {
		o.wantAnswers(time.Second)
		o.wantAnswers(0)
		time.Sleep(censusEvery - 2*time.Second)
		o.wantAnswers(0)
		time.Sleep(2 * time.Second)
		o.wantAnswers(time.Second)
		o.wantAnswers(0)
	})
}

// A proxy that has just begun is waited for like those that have answered, and one that has ended
// is once.
func TestProxiesThatComeAndGoAreWaitedFor(t *testing.T) {
	inOffice(t, 3, 1, func(o *office) {
		o.wantAnswers(time.Second)
		o.joins(o.start(o.cfg))
		o.joins(o.start(o.cfg))
		for _, m := range o.masters {
			m.set(func(m *fakeMaster) { m.lag = 50 * time.Millisecond })
		}
		// The proxy's last batch may be on its way: it waits for that, and so may the answer.
		if answers, took := o.inquire(1, "x", 0); len(answers) != 2 || took >= time.Second {
			t.Errorf("answered: %+v, after %v", answers, took)
		}
		for _, m := range o.masters {
			m.set(func(m *fakeMaster) { m.lag = 0 })
		}
		time.Sleep(time.Second)
		o.stop(o.engines[1])
		o.wantAnswers(time.Second, 3)
		o.wantAnswers(0, 3)
	})
}

func TestInquiryEndsWithAsManyAnswersAsAreEnough(t *testing.T) {
	inOffice(t, 3, 4, func(o *office) {
		for n := 1; n <= 3; n++ {
			if answers, took := o.inquire(1, "x", n); len(answers) < n || took != 0 {
				t.Errorf("%d answers after %v, %d are enough", len(answers), took, n)
			}
		}
		if answers, took := o.inquire(1, "x", 4); len(answers) != 3 || took != time.Second {
			t.Errorf("%d answers after %v", len(answers), took)
		}
	})
}

func TestQuestionNeedsNoMoreThanAQuorum(t *testing.T) {
	for name, trouble := range map[string]func(o *office){
		"down":     func(o *office) { o.down(3) },
		"frozen":   func(o *office) { o.masters[2].freeze() },
		"slow":     func(o *office) { o.masters[2].set(func(m *fakeMaster) { m.lag = 300 * time.Millisecond }) },
		"blank":    func(o *office) { o.masters[2].restartBlank() },
		"severed":  func(o *office) { o.masters[2].sever() },
		"refusing": func(o *office) { o.masters[2].set(func(m *fakeMaster) { m.respond = refusePublish }) },
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, 3, 2, func(o *office) {
				o.wantAnswers(time.Second, 2)
				trouble(o)
				o.wantAnswers(0, 2)
				time.Sleep(3 * time.Second)
				o.wantAnswers(0, 2)
				o.masters[2].set(func(m *fakeMaster) { m.lag, m.respond, m.refuse = 0, nil, false })
				o.masters[2].unfreeze()
				time.Sleep(3 * time.Second)
				if got := o.clerks[1].asked(); len(got) != 3 {
					t.Errorf("it was asked %d times", len(got))
				}
				o.down(1)
				o.wantAnswers(0, 2)
			})
		})
	}
}

// Without a quorum it is asked all the same, where anything can be heard.
func TestQuestionWithoutAQuorumIsAskedOfWhoCanBeReached(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		o.wantAnswers(time.Second, 2)
		o.down(1, 2)
		o.wantAnswers(o.cfg.AcquireTimeout, 2)
		o.down(3)
		o.wantAnswers(o.cfg.AcquireTimeout)
		o.up(1, 2, 3)
		time.Sleep(time.Second)
		o.wantAnswers(0, 2)
	})
}

// A proxy that knows nothing of questions hears what is no message to it, and nobody waits for it.
func TestOldProxyIsNotWaitedForAndDeliversNoQuestion(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		old, heard := o.start(o.cfg), new(listeners)
		old.inquiries.Close() // it neither hears nor says what it does not know
		old.Attend(heard)
		o.want(old.Subscribe(), quorum.Won)
		o.settle()
		o.wantAnswers(time.Second, 2)
		o.wantAnswers(0, 2)
		old.Publish("c", "m")
		o.settle()
		if got := heard.take(t); !slices.Equal(got, []string{"c=m"}) || old.Status().MessagesReceived != 0 {
			t.Errorf("the old proxy has delivered %q", got)
		}
	})
}

func TestQuestionThatCannotBeAskedHasNoAnswers(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		began := time.Now()
		e := o.engines[0]
		for _, answers := range [][]quorum.Answer{
			e.Inquire(context.Background(), "", 0),
			e.Inquire(context.Background(), strings.Repeat("x", quorum.MaxQuestion+1), 0),
			e.Inquire(over, "x", 0),
		} {
			if answers != nil {
				t.Errorf("answered: %+v", answers)
			}
		}
		o.settle()
		if got := o.clerks[1].asked(); got != nil || time.Since(began) > 20*ms {
			t.Errorf("asked: %q, after %v", got, time.Since(began))
		}
		longest := strings.Repeat("x", quorum.MaxQuestion-len("proxy 2: "))
		if answers, _ := o.inquire(1, longest, 1); len(answers) != 1 || answers[0].Text != "proxy 2: "+longest {
			t.Errorf("%d answers", len(answers))
		}
	})
}

func TestClosingEndsInquiries(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		answered := make(chan []quorum.Answer, maxInquiries+2)
		forEver, cancel := context.WithCancel(context.Background())
		defer cancel()
		for range cap(answered) {
			go func() { answered <- o.engines[0].Inquire(forEver, "x", 0) }()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(answered) != 0 {
			t.Fatal("it has ended before all that may be there had time")
		}
		began := time.Now()
		o.stop(o.engines[0])
		synctest.Wait()
		if len(answered) != cap(answered) || time.Since(began) > 100*ms {
			t.Errorf("%d have ended after %v", len(answered), time.Since(began))
		}
		if answers := o.engines[0].Inquire(forEver, "x", 0); answers != nil {
			t.Errorf("after the end: %+v", answers)
		}
	})
}

// A question that comes while the proxy ends is not answered, or answered whole.
func TestClosingWhileOthersAskEnds(t *testing.T) {
	inOffice(t, 3, 2, func(o *office) {
		o.wantAnswers(time.Second, 2)
		var all sync.WaitGroup
		for range maxInquiries {
			all.Go(func() {
				if answers, _ := o.inquire(1, "x", 0); len(answers) > 1 || len(answers) == 1 && answers[0].Text != "proxy 2: x" {
					t.Errorf("answered: %+v", answers)
				}
			})
		}
		o.stop(o.engines[1])
		all.Wait()
		o.wantAnswers(0)
		for _, m := range o.masters {
			if got := len(m.commands("PUBLISH " + messages.Channel + " question1 ")); got == 0 {
				t.Errorf("%s has carried no question", m.name)
			}
		}
	})
}
