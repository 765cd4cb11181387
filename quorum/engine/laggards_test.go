package engine

import (
	"strconv"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

func TestMasterThatIsBehindIsBroughtUp(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "3")
		w.wantNumber(w.count("k"), 11)
		time.Sleep(2*w.cfg.AcquireTimeout - 50*ms)
		w.wantNumber(w.count("k"), 12)
		w.settle()
		// Not yet: it may hold something newer. What it did late was taken back.
		if third := w.masters[2].value("k"); third != "3" && third != "4" && third != "5" {
			t.Errorf("m3 holds %q", third)
		}
		// What it is only told once it is decided tells nothing of it.
		n := int64(12)
		for value := ""; value != strconv.FormatInt(n, 10) && n < 20; value = w.masters[2].value("k") {
			time.Sleep(2 * w.cfg.AcquireTimeout)
			n++
			w.wantNumber(w.count("k"), n)
			w.settle()
		}
		text := strconv.FormatInt(n, 10)
		w.wantValues("k", text, text, text)
		w.wantFree("k")

		// One that declines all the time, too.
		w.putAll("d", "10", "10", "3")
		w.want(w.stepOn(setStep, "d", "10", "11").wait(t), quorum.Won)
		w.settle()
		w.wantValues("d", "11", "11", "3")
		last := 11
		for value := "3"; value == "3" && last < 20; value = w.masters[2].value("d") {
			time.Sleep(time.Second)
			last++
			w.want(w.stepOn(setStep, "d", strconv.Itoa(last-1), strconv.Itoa(last)).wait(t), quorum.Won)
			w.settle()
		}
		text = strconv.Itoa(last)
		w.wantValues("d", text, text, text)
	})
}

// Who declines is not latched, so another proxy's step may come first: to bring it up is left to a look (see mending.go).
//
//	1: A's LPOP of x is won on masters 1 and 2, where y is left; 3 had nothing, and is to be brought up to y
//	2: B's RPUSH of z is won on all, and brings 3 up; z and y are popped by B from 2 and 3
//	3: 3 has nothing once more, and A's y comes there: 1 and 3 have what was popped
func TestWhoHasDeclinedIsBroughtUpByNoStep(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "3")
		w.want(w.stepOn(setStep, "k", "10", "11").wait(t), quorum.Won)
		time.Sleep(2*w.cfg.AcquireTimeout + 15*ms)
		w.want(w.stepOn(setStep, "k", "11", "12").wait(t), quorum.Won)
		time.Sleep(5 * ms) // less than until the look
		w.wantValues("k", "12", "12", "3")
		time.Sleep(10 * time.Second)
		w.wantValues("k", "12", "12", "12")
	})
}

// Whatever somebody else has written on a master that was behind may be a lock that
// is being won: it is left alone.
func TestMasterWithSomethingNewerIsNotBroughtUp(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "3")
		w.want(w.stepOn(setStep, "k", "10", "11").wait(t), quorum.Won)
		time.Sleep(time.Second)
		w.masters[2].put("k", "token", time.Minute)
		w.want(w.stepOn(setStep, "k", "11", "12").wait(t), quorum.Won)
		w.settle()
		w.wantValues("k", "12", "12", "token")
	})
}
