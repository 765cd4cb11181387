package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// addStep adds to a set, which is a list here: 0, and nothing, where the member is there already.
var addStep = quorum.NewStep("return redis.call('SADD', KEYS[1], ARGV[1])")

func init() {
	effects[addStep] = func(m *fakeMaster, name string, argv []string) effect {
		if slices.Contains(m.list(name), argv[0]) {
			return says(0, ":", "0")
		}
		m.setList(name, append(m.list(name), argv[0]))
		return says(decide.FlagWrote, ":", "1")
	}
	known = append(known, journal.FormOf(addStep).Own())
}

// What one master alone has, as an answer was lost, is taken from it once all are there. Until then its word is told to nobody.
func TestNoOneMasterTellsThatSomethingIsThere(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.listsApart("s", "x", "", "")
		w.down(3)
		if r := w.stepOn(addStep, "s", "x").wait(t); r.Decision != quorum.Split || r.Script != nil {
			t.Errorf("%v, %+v, where one master has it, one has not, and one is away", r.Decision, r.Script)
		}
		w.up(3)
		time.Sleep(10 * time.Second)
		w.wantNumber(w.stepOn(addStep, "s", "x").wait(t), 1)
		if r := w.stepOn(addStep, "s", "x").wait(t); r.Decision != quorum.Contended || r.Script == nil || r.Script.Int != 0 {
			t.Errorf("%v, %+v, where all have it", r.Decision, r.Script)
		}
	})
}

// A master may be quarantined, and have all that it was given: what it has with one of the others was answered.
func TestWhatAQuarantinedMasterHasIsNotTakenFromTheOthers(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.wantNumber(w.stepOn(addStep, "s", "a").wait(t), 1)
		w.settle()
		time.Sleep(3 * time.Second)
		w.masters[1].latch("s", 100*ms)
		w.wantNumber(w.stepOn(addStep, "s", "x").wait(t), 1) // by 1 and 3
		w.settle()
		w.masters[2].set(func(m *fakeMaster) { m.jumped += 5 * time.Second })
		votes := true
		for range 20 {
			if r := w.stepOn(addStep, "s", "x").wait(t); r.Decision == quorum.Won {
				t.Fatal("it is told to two that they have added it")
			}
			votes = votes && w.state(3).State == quorum.Voting
			time.Sleep(time.Second)
		}
		if votes {
			t.Fatal("the master whose clock was set has voted all the time")
		}
	})
}

// Nor has one forgotten that another proxy has admitted, of which this one has not heard.
func TestQuarantineThatIsOverElsewhereIsOver(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		cut := false
		other := w.beside(3, func() bool { return cut })
		w.stepOn(pushStep, "l", "a").wait(t)
		w.settle()
		time.Sleep(3 * time.Second)
		w.masters[2].set(forgetAll)
		for range 30 {
			other.stepOn(addStep, "z", "z").wait(t)
			if time.Sleep(100 * ms); other.engine.zero.lanes[2].quarantined() {
				break
			}
		}
		cut = true
		w.masters[2].cut()
		w.masters[2].rejoin()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(3 * time.Second)
		w.masters[1].latch("l", 100*ms)
		w.wantNumber(w.stepOn(pushStep, "l", "x").wait(t), 2) // by 1 and 3
		w.settle()
		w.stop(w.engine)
		if !other.engine.zero.lanes[2].quarantined() {
			t.Fatal("the other proxy has heard of it")
		}
		time.Sleep(2 * w.cfg.AcquireTimeout)
		if r := other.stepOn(popStep, "l").wait(t); r.Decision != quorum.Won || r.Script.Str != "a" {
			t.Errorf("of what 1 and 2 are known to have had %v, %+v is told", r.Decision, r.Script)
		}
		time.Sleep(10 * time.Second)
		for _, i := range []int{0, 1} {
			if got := strings.Join(w.masters[i].elements("l"), " "); got != "x" {
				t.Errorf("%d holds %q", i+1, got)
			}
		}
	})
}
