package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// Nothing is wrong but that one proxy's step is late on 1, and another's on 3, by less than acquire-timeout: two elements of one
// value are pushed, and three popped.
func TestNoMoreIsPoppedOfWhatIsAlikeByChance(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.stepOn(popStep, "l").wait(t)
		w.settle()
		time.Sleep(3 * time.Second)
		serve1 := w.masters[0].holdBack()
		b := w.beside(2, func() bool { return false })
		pops := 0
		pop := func(by *world) quorum.Result {
			r := by.stepOn(popStep, "l").wait(t)
			if r.Decision == quorum.Won {
				pops++
			}
			return r
		}
		w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 1) // by 2 and 3; 1 has it in a socket
		w.want(pop(b), quorum.Won)
		w.delayed(2*ms, 2, 3) // so that 1 is heard
		w.wantNumber(b.stepOn(pushStep, "l", "a").wait(t), 1)
		time.Sleep(10 * ms)
		w.delayed(0, 2, 3)
		serve3 := w.masters[2].holdBack()
		c := w.beside(2, func() bool { return false })
		w.want(pop(b), quorum.Won) // by 1 and 2; 3 has it in a socket
		serve1()
		time.Sleep(5 * ms)
		pop(c)
		serve3()
		time.Sleep(10 * time.Second)
		if pops > 2 {
			t.Errorf("2 were pushed, %d were popped", pops)
		}
	})
}

// The same of what is lost: of five elements of one value that were pushed two are popped, and two are left.
func TestPushIsNotLostOfWhatIsAlikeByChance(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.stepOn(pushStep, "l", "a").wait(t)
		w.settle()
		time.Sleep(3 * time.Second)
		serve1 := w.masters[0].holdBack()
		b := w.beside(2, func() bool { return false })
		w.want(w.stepOn(popStep, "l").wait(t), quorum.Won) // [a] on 2 and 3; 1 has it in a socket
		w.delayed(2*ms, 2, 3)
		w.want(b.stepOn(popStep, "l").wait(t), quorum.Won) // [] on all, as 1 is brought up
		time.Sleep(10 * ms)
		w.wantNumber(b.stepOn(pushStep, "l", "a").wait(t), 1)
		time.Sleep(10 * ms)
		w.delayed(0, 2, 3)
		serve3 := w.masters[2].holdBack()
		c := w.beside(2, func() bool { return false })
		w.wantNumber(b.stepOn(pushStep, "l", "a").wait(t), 2) // by 1 and 2; 3 has it in a socket
		serve1()                                              // the pop takes one there
		time.Sleep(5 * ms)
		r := c.stepOn(pushStep, "l", "a").wait(t)
		want := 2
		if r.Decision == quorum.Won {
			want = 3
		}
		serve3()
		time.Sleep(time.Minute)
		if got := len(w.masters[1].elements("l")); got < want {
			t.Errorf("%d are left, want %d", got, want)
		}
	})
}
