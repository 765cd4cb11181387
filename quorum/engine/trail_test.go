package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// missedBy2 has masters 1 and 3 win a step that 2 misses, which another proxy's keeps busy.
func (w *world) missedBy2(s *quorum.Script, key string, args ...string) {
	w.t.Helper()
	w.settle()
	time.Sleep(3 * time.Second)
	w.masters[1].latch(key, 100*ms)
	if r := w.stepOn(s, key, args...).wait(w.t); r.Decision != quorum.Won {
		w.t.Fatalf("the step that one misses came to %v", r.Decision)
	}
	w.settle()
}

// wantLists tells what the masters hold of a list each.
func (w *world) wantLists(key, want string) {
	w.t.Helper()
	for _, m := range w.masters {
		if got := strings.Join(m.elements(key), " "); got != want {
			w.t.Errorf("%s holds %q, want %q", m.name, got, want)
		}
	}
}

// Of two masters it is known which of them has missed a step, though the third, which has not, is away.
func TestWhatAMasterHasMissedComesToItThoughAnotherIsAway(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.missedBy2(pushStep, "l", "x")
		w.down(3)
		w.wantNumber(w.stepOn(pushStep, "l", "y").wait(t), 3)
		w.up(3)
		time.Sleep(10 * time.Second)
		w.wantLists("l", "a x y")
	})
}

// Nor does one that has forgotten keep it from them, or they keep that out; also where nobody asks for it.
func TestAMasterThatHasForgottenIsGivenWhatOthersHeldApart(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.stepOn(pushStep, "m", "a").wait(t)
		w.stepOn(pushStep, "m", "b").wait(t)
		w.missedBy2(pushStep, "l", "x")
		w.missedBy2(popStep, "m")
		w.masters[2].restartBlank()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(10 * time.Second)
		w.wantLists("l", "a x")
		w.wantLists("m", "b")
	})
}

// What was the last in a list is not told again by a master that has missed that, and another that has forgotten.
func TestTheLastOfAListIsToldOnceThoughAMasterForgets(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		other := w.beside(2, func() bool { return false })
		other.stepOn(pushStep, "l", "a").wait(t)
		other.missedBy2(popStep, "l")
		w.stop(other.engine)
		w.masters[2].restartBlank()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(10 * time.Second)
		if r := w.stepOn(popStep, "l").wait(t); r.Decision == quorum.Won {
			t.Errorf("it is told again: %+v", r.Script)
		}
		w.wantLists("l", "")
	})
}

// What a master was brought up to, by a step or a look, it has come to by the same steps as the others.
func TestMasterThatWasBroughtUpHasNotGoneAnotherWay(t *testing.T) {
	for by, meanwhile := range map[string]func(w *world){
		"a step": func(w *world) { time.Sleep(100 * ms); w.stepOn(pushStep, "l", "c").wait(t) },
		"a look": func(*world) { time.Sleep(5 * time.Second) },
	} {
		t.Run(by, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.stepOn(pushStep, "l", "a").wait(t)
				w.missedBy2(pushStep, "l", "b")
				meanwhile(w)
				w.missedBy2(pushStep, "l", "d")
				w.down(3)
				w.want(w.stepOn(pushStep, "l", "e").wait(t), quorum.Won)
			})
		})
	}
}

// Nor has one of which a lost step was taken back.
func TestMasterOfWhichAStepWasTakenBackHasNotGoneAnotherWay(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.stepOn(pushStep, "l", "a").wait(t)
		w.missedBy2(pushStep, "l", "b")
		w.masters[0].latch("l", 2*time.Second)
		w.masters[2].latch("l", 2*time.Second)
		if r := w.stepOn(pushStep, "l", "lost").wait(t); r.Decision != quorum.Split {
			t.Fatalf("%v", r.Decision)
		}
		w.down(3)
		time.Sleep(2 * time.Second)
		w.wantNumber(w.stepOn(pushStep, "l", "c").wait(t), 3)
	})
}

// The proxy that knows who has missed something may be gone: whoever gives a master back what it has forgotten looks at what
// the others hold apart.
func TestWhatAProxyThatIsGoneLeftApartIsLookedAt(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		other := w.beside(2, func() bool { return false })
		other.stepOn(pushStep, "l", "a").wait(t)
		other.missedBy2(pushStep, "l", "x")
		w.stop(other.engine)
		w.masters[2].restartBlank()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(10 * time.Second)
		w.wantLists("l", "a x")
	})
}

// What a real master tells of a trail is what is reckoned with.
func TestTrailIsAsAMasterHasIt(t *testing.T) {
	notInstrumented(t)
	real := bothSides(t)[0].(realSide)
	for _, key := range []string{"k", strings.Repeat("k", 70)} {
		real.do("FLUSHALL")
		record := decide.UndoRecord{}
		run := func(s *quorum.Script, step string, args ...string) (trail string) {
			t.Helper()
			argv := slices.Concat([]string{"1", "0"}, args, []string{journal.Hold, step, "60000", journal.NoDate})
			answer := real.run(journal.FormOf(s).Own(), []string{key}, argv).([]any)
			_, trail, found := strings.Cut(answer[len(answer)-1].(string), "/")
			if !found || trail != record.Trail {
				t.Errorf("%s tells the trail %v, want %q", step, answer[len(answer)-1], record.Trail)
			}
			return trail
		}
		dumped := func() string { d, _ := real.do("DUMP", key).(string); return d }
		for i := range 10 {
			step := fmt.Sprintf("0123456789abcdef:%d", i)
			run(pushStep, step, "v")
			record.After = dumped()
			record.Trail = record.TrailAfter(step)
		}
		run(mendStep, "0123456789abcdef:l")
		real.do("SET", journal.Latch(key), "own", "PX", "60000")
		end := func(ends, becomes, trail string) {
			t.Helper()
			keys := []string{key, undoKeys[1], undoKeys[2], journal.Latch(key), quorum.StepsKey}
			if said := real.run(latchScript, keys, []string{"own", ends, "stays", dumped(), becomes, "0", "0", "0", "1", "", "", "", trail}); said != int64(saysEnded) {
				t.Fatalf("%s: %v", ends, said)
			}
			real.do("DEL", journal.Latch(key))
			record.Trail = trail
			run(mendStep, "0123456789abcdef:m")
			real.do("SET", journal.Latch(key), "own", "PX", "60000")
		}
		end("take-back", real.dump("the"), "0123456789abcdef")
		end("bring-up", "", "fedcba9876543210")
		real.do("SET", key, "another's")
		record.Trail = ""
		real.do("DEL", journal.Latch(key))
		run(mendStep, "0123456789abcdef:n")
	}
}
