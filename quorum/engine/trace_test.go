package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
)

// traced puts a request of which a trace is kept, and waits for its answer.
func (w *world) traced(r quorum.Request) (quorum.Result, *quorum.Trace) {
	w.t.Helper()
	r.Trace = new(quorum.Trace)
	return w.ask(r), r.Trace
}

// taleOf is a trace in words, a line for each attempt: what was asked, what was decided, and what
// each master said. A vote that came later than the decision is in brackets, and one that was
// cast for a master that was not asked has a question mark.
func taleOf(t *quorum.Trace) string {
	tale := t.Tale()
	var lines []string
	for _, a := range tale.Attempts {
		line := a.Kind.String() + " " + a.Decision.String() + ":"
		for _, m := range a.Masters {
			vote := m.Vote.String()
			if !m.Asked && m.Vote != 0 {
				vote += "?"
			}
			if !m.Counted && (m.Vote == 0 || m.At.After(a.Decided)) {
				vote = "(" + vote + ")"
			}
			line += " " + vote
		}
		lines = append(lines, line)
	}
	if tale.Shared {
		lines = append(lines, "shared")
	}
	if tale.Left > 0 {
		lines = append(lines, fmt.Sprint(tale.Left, " left"))
	}
	return strings.Join(lines, "\n")
}

func wantTold(t *testing.T, trace *quorum.Trace, complete bool, lines ...string) {
	t.Helper()
	if got, want := taleOf(trace), strings.Join(lines, "\n"); got != want {
		t.Errorf("told is\n%s\nwant\n%s", got, want)
	}
	if got := trace.Complete(); got != complete {
		t.Errorf("complete is %v", got)
	}
}

func TestSplitAcquireHasAnAttemptForEachTry(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.down(4, 5)
		w.masters[0].put("k", "x", time.Hour)
		w.masters[1].put("k", "y", 3*ms) // is gone when it is tried again
		began := time.Now()
		r, trace := w.traced(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		w.want(r, quorum.Split)
		w.settle()
		again := "acquire split: refused granted granted unknown? unknown?"
		wantTold(t, trace, true, "acquire split: refused refused granted unknown? unknown?", again, again, again)
		for i, a := range trace.Tale().Attempts[1:] {
			before := trace.Tale().Attempts[i]
			if rest := a.Put.Sub(before.Decided); rest < w.cfg.SplitDelay/5 || rest > w.cfg.SplitDelay {
				t.Errorf("attempt %d was put %v after the one before it was decided, %v after it was asked for", i+2, rest, a.Put.Sub(began))
			}
		}
	})
}

func TestLateVoteIsTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.late(func() {
			began := time.Now()
			r, trace := w.traced(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
			w.want(r, quorum.Won)
			wantTold(t, trace, false, "acquire won: granted granted (pending)")
			w.settle()
			wantTold(t, trace, true, "acquire won: granted granted (granted)")
			m := trace.Tale().Attempts[0].Masters[2]
			if late := m.At.Sub(began); late != 5*ms {
				t.Errorf("the vote came after %v", late)
			}
		}, 3)
	})
}

func TestHungMasterIsTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[1].freeze()
		began := time.Now()
		r, trace := w.traced(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		w.want(r, quorum.Won)
		wantTold(t, trace, false, "acquire won: granted (pending) granted")
		time.Sleep(w.cfg.MasterTimeout)
		synctest.Wait()
		wantTold(t, trace, true, "acquire won: granted (unknown) granted")
		if after := trace.Tale().Attempts[0].Masters[1].At.Sub(began); after < w.cfg.MasterTimeout/2 {
			t.Errorf("it was given up after %v", after)
		}
		// While its connection is made anew it is not asked.
		_, trace = w.traced(quorum.Request{Kind: quorum.Release, Key: "k", Token: "t"})
		wantTold(t, trace, true, "release won: granted unknown? granted")
	})
}

func TestRequestThatIsDecidedByItsTimeIsTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each((*fakeMaster).freeze, 2, 3)
		r, trace := w.traced(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		w.want(r, quorum.Unavailable)
		wantTold(t, trace, false, "acquire unavailable: granted (pending) (pending)")
		time.Sleep(w.cfg.MasterTimeout)
		synctest.Wait()
		wantTold(t, trace, true, "acquire unavailable: granted (unknown) (unknown)")
	})
}

func TestSecondStepOfAnAcquireIsTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		r, trace := w.traced(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t"})
		w.want(r, quorum.Won)
		w.settle()
		wantTold(t, trace, true, "acquire won: granted granted granted", "extend won: granted granted granted")
	})
}

func TestSharedAnswerIsTold(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = ms }) }, 1, 2, 3)
		first := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
		second := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		r, trace := w.traced(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "c", TTL: time.Minute})
		w.want(first.wait(t), quorum.Won)
		w.want(second.wait(t), quorum.Contended)
		w.want(r, quorum.Contended)
		wantTold(t, trace, true, "shared")
	})
}

func TestVotesOfManyLanesAreToldTogether(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		kinds := []quorum.Request{
			{Kind: quorum.Acquire, Token: "t", TTL: time.Minute},
			{Kind: quorum.Extend, Token: "t", TTL: time.Hour},
			{Kind: quorum.Write, Args: []string{"PEXPIRE", "", ""}, TTL: time.Minute, TTLArg: 2},
			{Kind: quorum.Release, Token: "t"},
			{Kind: quorum.Remove},
		}
		for _, r := range kinds {
			var askers []*waiter
			var traces []*quorum.Trace
			for i := range 200 {
				r := r
				r.Key, r.Trace = fmt.Sprint("k", i), new(quorum.Trace)
				if len(r.Args) > 0 {
					r.Args = []string{"PEXPIRE", r.Key, ""}
				}
				askers, traces = append(askers, w.put(r)), append(traces, r.Trace)
			}
			for _, a := range askers {
				<-a.answers
			}
			w.settle()
			for _, trace := range traces {
				tale := trace.Tale()
				if !trace.Complete() || len(tale.Attempts) != 1 || tale.Attempts[0].Kind != r.Kind {
					t.Fatalf("%v: %s", r.Kind, taleOf(trace))
				}
				for _, m := range tale.Attempts[0].Masters {
					if m.Vote == 0 || !m.Asked {
						t.Fatalf("%v: %s", r.Kind, taleOf(trace))
					}
				}
			}
		}
	})
}

func TestTriesWithoutEndAreCounted(t *testing.T) {
	trace := new(quorum.Trace)
	for range 40 {
		if a := trace.Begin(quorum.Run, 1, time.Now()); a != nil {
			a.Voted(0, quorum.Refused, true, time.Now())
			a.Decided(quorum.Contended, quorum.Votes(quorum.Refused), time.Now())
		}
	}
	if tale := trace.Tale(); len(tale.Attempts)+tale.Left != 40 || tale.Left == 0 || !trace.Complete() {
		t.Errorf("%d attempts and %d more", len(tale.Attempts), tale.Left)
	}
}

func TestVoteOfARequestThatIsNotTracedAllocatesNothing(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		o := newOp(&quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute}, newWaiter())
		o.db, o.put, o.patience = w.engine.zero, time.Now(), time.Hour
		o.Said, o.sent = make([]decide.Said, 3), make([]sending, 3)
		vote := func() {
			o.ballot = decide.Ballot{}
			o.vote(1, quorum.Granted, true, o.put)
		}
		if n := testing.AllocsPerRun(100, vote); n != 0 {
			t.Errorf("%v allocations", n)
		}
		o.traced = new(quorum.Trace).Begin(o.Kind, 3, o.put)
		if vote(); o.traced == nil {
			t.Error("it is not traced")
		}
	})
}

// A step that another proxy keeps out is tried again and again; each try is told, as far as there
// is room, and all votes of it are in, though it is undone in between.
func TestTriesOfAStepAreTold(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("n", "1", "1", "1")
		w.each(func(m *fakeMaster) { m.latch("n", 100*ms) }, 1, 2)
		r, trace := w.traced(quorum.Request{Kind: quorum.Run, Script: countStep, Key: "n", Keys: []string{"n"}})
		w.wantNumber(r, 2)
		w.settle()
		tale := trace.Tale()
		last := len(tale.Attempts) - 1
		if last < 1 || tale.Left > 0 || !trace.Complete() {
			t.Fatal(taleOf(trace))
		}
		for i, a := range tale.Attempts {
			want := quorum.Split
			if i == last {
				want = quorum.Won
			}
			if a.Decision != want || a.Kind != quorum.Run {
				t.Errorf("attempt %d: %s", i+1, taleOf(trace))
			}
		}
	})
}
