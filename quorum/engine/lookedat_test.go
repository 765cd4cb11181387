package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// latePush: A's push of x is won on 2 and 3, and late on 1 (less than acquire-timeout); B pops x, and pushes and pops y
// meanwhile. Then the push comes to 1, its answer is heard, no link is lost.
func latePush(w *world, between bool) (other *world) {
	t := w.t
	w.stepOn(pushStep, "l", "a").wait(t)
	w.stepOn(popStep, "l").wait(t)
	w.settle()
	time.Sleep(3 * time.Second)
	serve := w.masters[0].holdBack()
	other = w.beside(2, func() bool { return false })
	w.wantNumber(w.stepOn(pushStep, "l", "x").wait(t), 1)
	w.delayed(2*ms, 2, 3)
	if r := other.stepOn(popStep, "l").wait(t); r.Decision != quorum.Won || r.Script.Str != "x" {
		t.Fatalf("%+v", r)
	}
	if between {
		time.Sleep(5 * ms)
		w.wantNumber(other.stepOn(pushStep, "l", "y").wait(t), 1)
		time.Sleep(5 * ms)
		if r := other.stepOn(popStep, "l").wait(t); r.Decision != quorum.Won || r.Script.Str != "y" {
			t.Fatalf("%+v", r)
		}
		time.Sleep(5 * ms)
	}
	w.delayed(0, 2, 3)
	serve()
	w.settle()
	return other
}

// hasForgotten has a master forget all, and is back when it has been given what the others hold.
func (w *world) hasForgotten(n int) {
	w.t.Helper()
	w.masters[n-1].restartBlank()
	w.noticed(n)
	w.votesWithin(n, 30*time.Second)
	time.Sleep(10 * time.Second)
}

// wantsNoMore fails the test if there is anything to be popped.
func (w *world) wantsNoMore() {
	w.t.Helper()
	if r := w.stepOn(popStep, "l").wait(w.t); r.Decision == quorum.Won {
		w.t.Errorf("popped once more: %q", r.Script.Str)
	}
}

func TestLatePushIsLookedAt(t *testing.T) {
	for _, between := range []bool{false, true} {
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				latePush(w, between)
				time.Sleep(30 * time.Second)
				w.wantLists("l", "")
			})
		})
	}
}

func TestLatePushIsPoppedOnceThoughAMasterForgets(t *testing.T) {
	for _, between := range []bool{false, true} {
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				other := latePush(w, between)
				time.Sleep(20 * time.Second)
				w.hasForgotten(3)
				other.wantsNoMore()
			})
		})
	}
}

func TestLatePushKeepsNobodyOutWhileOneIsAway(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		other := latePush(w, true)
		time.Sleep(20 * time.Second)
		w.masters[2].cut()
		other.wantsPushed()
	})
}

// The list is polled all the time meanwhile, by both proxies.
func TestLatePushIsLookedAtWhereTheListIsPolled(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		other := latePush(w, true)
		for range 30 {
			time.Sleep(time.Second)
			w.want(other.stepOn(popStep, "l").wait(t), quorum.Contended)
			w.want(w.stepOn(popStep, "l").wait(t), quorum.Contended)
		}
		w.hasForgotten(3)
		other.wantsNoMore()
	})
}

// A proxy dies behind the answer to a pop that one master has not got. Another proxy polls the list for as long as you like; then a
// master forgets.
func TestPopOfAProxyThatDiesIsLookedAt(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.settle()
		time.Sleep(3 * time.Second)
		other := w.beside(2, func() bool { return false })
		w.each(func(m *fakeMaster) {
			m.set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if args[0] == "EVALSHA" && (args[1] == latchScript.SHA || args[1] == letGoScript.SHA) {
						return silence
					}
					return m.step(args)
				}
			})
		}, 1, 2)
		w.masters[2].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if len(args) > 3 && args[3] == "l" {
					return silence
				}
				return m.step(args)
			}
		})
		if r := w.stepOn(popStep, "l").wait(t); r.Decision != quorum.Won || r.Script.Str != "a" {
			t.Fatalf("%+v", r)
		}
		w.stop(w.engine)
		w.knowsSteps()
		time.Sleep(time.Second)
		for range 30 {
			time.Sleep(time.Second)
			if r := other.stepOn(popStep, "l").wait(t); r.Decision == quorum.Won {
				t.Fatalf("popped once more: %q", r.Script.Str)
			}
		}
		w.engine = other.engine
		w.masters[0].restartBlank()
		time.Sleep(2 * time.Minute)
		other.wantsNoMore()
	})
}

// A's pop is told that there is nothing, and comes to 1 late, behind B's pushes. Then 1 hangs for half a second: "take-back" before
// it has carried out what takes the pop back: no link is lost, but the latch is gone; "link" before its answer: the link is lost.
// A minute later 3 forgets.
func TestTakeBackThatIsLateIsLookedAt(t *testing.T) {
	for _, what := range []string{"take-back", "link"} {
		t.Run(what, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.stepOn(pushStep, "l", "a").wait(t)
				w.stepOn(popStep, "l").wait(t)
				w.settle()
				time.Sleep(3 * time.Second)
				first := w.masters[0]
				serve := first.holdBack()
				other := w.beside(2, func() bool { return false })
				time.Sleep(50 * ms)
				w.want(w.stepOn(popStep, "l").wait(t), quorum.Contended)
				w.wantNumber(other.stepOn(pushStep, "l", "y").wait(t), 1)
				w.wantNumber(other.stepOn(pushStep, "l", "z").wait(t), 2)
				w.settle()
				var again func()
				came := false
				dials := 0
				first.set(func(m *fakeMaster) {
					m.delay = 100 * ms
					dials = m.dials
					m.after = func(args []string, m *fakeMaster) {
						came = came || len(m.list("l")) == 1
						if came && again == nil && (what == "link" || args[0] == "TIME") {
							again = m.holdBackLocked()
						}
					}
				})
				serve()
				time.Sleep(20 * ms)
				w.delayed(0, 1)
				if again == nil {
					t.Fatal("the pop has not come")
				}
				time.Sleep(map[string]time.Duration{"take-back": 505 * ms, "link": 700 * ms}[what])
				again()
				w.settle()
				first.locked(func() { t.Logf("%d links were made anew", first.dials-dials) })
				time.Sleep(time.Minute)
				w.wantLists("l", "y z")
				w.hasForgotten(3)
				for _, want := range []string{"y", "z"} {
					if r := other.stepOn(popStep, "l").wait(t); r.Decision != quorum.Won || r.Script.Str != want {
						t.Errorf("%v, %+v, want %s", r.Decision, r.Script, want)
					}
				}
			})
		})
	}
}
