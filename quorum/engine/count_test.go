package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// wantLate tells whether the first two masters hold this, and the third what it did or, if
// its vote came before the decision, what it has made of that.
func (w *world) wantLate(key, value, was, counted string) {
	w.t.Helper()
	if third := w.masters[2].value(key); third == was {
		counted = was
	}
	w.wantValues(key, value, value, counted)
}

// A master that is late with what was set anew still holds what was counted before.
func TestCountsGoOnFromWhatAQuorumWasSetTo(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("apart", "0", "3", "1525")
		w.wantNumber(w.count("apart"), 4)
		w.settle()
		w.wantLate("apart", "4", "1525", "1526")

		w.putAll("down", "0", "-3", "-1525")
		w.wantNumber(w.stepOn(downStep, "down").wait(t), -4)

		// Another proxy's step keeps one that has it from telling.
		w.putAll("busy", "0", "0", "1525")
		w.each(func(m *fakeMaster) { m.latch("busy", 100*ms) }, 2)
		w.wantNumber(w.count("busy"), 1)
		w.settle()
		w.wantLate("busy", "1", "1525", "1526")
		w.wantFree("busy")
	})
}

// No quorum counts alike any more once four of five have told, and yet the fifth is heard.
func TestEveryMasterIsHeardBeforeCountsAreLevelled(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.knowsSteps()
		w.putAll("k", "0", "1", "1525", "1530", "2")
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 5)
		w.wantNumber(w.count("k"), 3)
		w.settle()
		w.wantValues("k", "3", "3", "1526", "1531", "3")
	})
}

func TestMastersThatCountDifferentlyAreLevelled(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("up", "11", "47", "46")
		w.wantNumber(w.count("up"), 47)
		w.settle()
		w.wantValues("up", "47", "48", "47")
		w.wantFree("up")
		w.wantNumber(w.count("up"), 48)

		w.putAll("down", "-3", "9", "7")
		w.wantNumber(w.stepOn(downStep, "down").wait(t), 6)
		w.settle()
		w.wantValues("down", "-4", "6", "6")

		// The end stays, as somebody may just have moved it.
		w.masters[0].put("ends", "5", 2*time.Minute)
		w.masters[1].put("ends", "7", time.Minute)
		w.masters[2].put("ends", "3", 5*time.Minute)
		w.wantNumber(w.count("ends"), 6)
		w.settle()
		for i, want := range []time.Duration{2 * time.Minute, time.Minute, 5 * time.Minute} {
			if left := w.masters[i].left("ends"); left < want-time.Second || left > want {
				t.Errorf("on %s it ends in %v, want %v", w.masters[i].name, left, want)
			}
		}

		// A quorum is enough, whichever it is.
		w.down(3)
		w.putAll("two", "11", "47")
		w.wantNumber(w.count("two"), 48)
		w.settle()
		w.masters[2].put("two", "46", 0)
		w.wantValues("two", "48", "48", "46")
	})
}

// What no quorum has is not answered.
func TestNumberThatCannotBeLevelledIsNotAnswered(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "11", "47", "46")
		for i, m := range w.masters {
			m.set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if len(args) > 9 && args[9] == "bring-up" && i != 1 {
						return integer(0)
					}
					return m.step(args)
				}
			})
		}
		if r := w.count("k"); r.Decision != quorum.Split || r.Script != nil {
			t.Errorf("it came to %+v", r)
		}
		w.masters[0].set(func(m *fakeMaster) { m.respond = m.step })
		w.wantNumber(w.count("k"), 48)
		w.settle()
		w.wantValues("k", "48", "49", "48")
	})
}
