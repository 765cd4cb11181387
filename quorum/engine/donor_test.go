package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// wantsPushed fails the test if nothing can be pushed for a minute.
func (w *world) wantsPushed() {
	w.t.Helper()
	for range 20 {
		time.Sleep(3 * time.Second)
		if w.stepOn(pushStep, "l", "w").wait(w.t).Decision == quorum.Won {
			return
		}
	}
	w.t.Error("NOQUORUM for a minute")
}

// missedStep wins a step that some masters miss.
func (w *world) missedStep(s *quorum.Script, args []string, numbers ...int) {
	w.t.Helper()
	w.each(func(m *fakeMaster) { m.latch("l", 100*ms) }, numbers...)
	if r := w.stepOn(s, "l", args...).wait(w.t); r.Decision != quorum.Won {
		w.t.Fatalf("the step that some miss came to %v", r.Decision)
	}
	w.settle()
}

// Master 1 misses a push and the pop of it. A minute later others miss a push, and of those who have missed nothing none is
// left.
func TestTrailIsOfWhoHasMissedNothing(t *testing.T) {
	for _, before := range []int{1, 4} {
		for _, n := range []int{3, 5} {
			t.Run(fmt.Sprint(n, before), func(t *testing.T) {
				inWorld(t, n, func(w *world) {
					w.knowsSteps()
					for range before {
						w.stepOn(pushStep, "l", "a").wait(t)
						w.stepOn(popStep, "l").wait(t)
					}
					w.settle()
					time.Sleep(3 * time.Second)
					w.missedStep(pushStep, []string{"y"}, 1)
					w.missedStep(popStep, nil, 1)
					time.Sleep(time.Minute) // looks
					behind, gone := []int{3}, []int{2}
					if n == 5 {
						behind, gone = []int{4, 5}, []int{2, 3}
					}
					w.missedStep(pushStep, []string{"z"}, behind...)
					w.each((*fakeMaster).cut, gone...)
					w.wantsPushed()
				})
			})
		}
	}
}

// The same, and who has missed nothing forgets.
func TestTrailIsOfWhoHasMissedNothingAndOneForgets(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		for range 4 {
			w.stepOn(pushStep, "l", "a").wait(t)
			w.stepOn(popStep, "l").wait(t)
		}
		w.settle()
		time.Sleep(3 * time.Second)
		w.missedStep(pushStep, []string{"a"}, 1)
		w.missedStep(popStep, nil, 1)
		time.Sleep(time.Minute)
		w.missedStep(pushStep, []string{"z"}, 3)
		w.hasForgotten(2)
		w.wantLists("l", "a z")
	})
}

// A look at masters that are far gives them time to answer.
func TestTheLastOfAListOfFarMastersIsToldOnce(t *testing.T) {
	for _, by := range []time.Duration{0, 30 * ms, 60 * ms, 90 * ms} {
		t.Run(by.String(), func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.delayed(by, 1, 2, 3)
				other := w.beside(2, func() bool { return false })
				other.stepOn(pushStep, "l", "a").wait(t)
				w.settle()
				time.Sleep(3 * time.Second)
				w.masters[1].latch("l", 100*ms)
				if r := other.stepOn(popStep, "l").wait(t); r.Decision != quorum.Won {
					t.Fatalf("%v", r.Decision)
				}
				time.Sleep(200 * ms)
				w.stop(other.engine)
				w.masters[2].restartBlank()
				w.votesWithin(3, 60*time.Second)
				time.Sleep(30 * time.Second)
				if r := w.stepOn(popStep, "l").wait(t); r.Decision == quorum.Won {
					t.Errorf("it is told again: %+v", r.Script)
				}
			})
		})
	}
}

// 1 misses a push and the pop of it, and 3 dies: what 1 and 2 hold is alike, and right.
func TestWhoHasMissedAPushAndItsPopHasAVote(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.settle()
		time.Sleep(3 * time.Second)
		w.missedStep(pushStep, []string{"a"}, 1)
		w.missedStep(popStep, nil, 1)
		w.masters[2].cut()
		time.Sleep(200 * ms)
		for range 5 {
			if r := w.stepOn(pushStep, "l", "w").wait(t); r.Decision == quorum.Won {
				return
			}
			time.Sleep(time.Second)
		}
		t.Error("NOQUORUM")
	})
}

// Once the link to 1 is lost behind a push that it has carried out, which is then won without it, by another try. All is well
// for a minute. Then 2 misses a push, and 3 dies.
func TestPushOfTwoTriesLeavesOneTrail(t *testing.T) {
	for _, gone := range []int{3, 2} {
		t.Run(map[int]string{3: "who has done it all dies", 2: "the other way round"}[gone], func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.stepOn(pushStep, "l", "a").wait(t)
				w.settle()
				time.Sleep(3 * time.Second)
				first := w.masters[0]
				w.masters[1].latch("l", 60*ms)
				cut := false
				first.set(func(m *fakeMaster) {
					m.respond = func(args []string) string {
						reply := m.step(args)
						if !cut && len(args) > 3 && reply != "" && len(m.list("l")) == 2 {
							cut = true
							return silence
						}
						return reply
					}
				})
				a := w.stepOn(pushStep, "l", "x")
				time.Sleep(5 * ms)
				first.cut()
				a.wait(t)
				first.rejoin()
				w.knowsSteps()
				time.Sleep(time.Minute)
				w.wantLists("l", "a x")
				w.missedStep(pushStep, []string{"z"}, 2)
				w.masters[gone-1].cut()
				w.wantsPushed()
			})
		})
	}
}
