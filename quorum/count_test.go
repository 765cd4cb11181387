package quorum

import (
	"testing"
	"time"
)

func TestMastersThatCountDifferentlyAreLevelled(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("up", "11", "47", "46")
		w.wantNumber(w.count("up"), 48)
		w.settle()
		w.wantValues("up", "48", "48", "48")
		w.wantFree("up")
		w.wantNumber(w.count("up"), 49)

		w.putAll("down", "-3", "9", "7")
		w.wantNumber(w.stepOn(downStep, "down").wait(t), -4)
		w.settle()
		w.wantValues("down", "-4", "-4", "-4")

		// Its end is that of the one that is furthest.
		w.masters[0].put("ends", "5", time.Minute)
		w.masters[1].put("ends", "7", 2*time.Minute)
		w.masters[2].put("ends", "3", time.Minute)
		w.wantNumber(w.count("ends"), 8)
		w.settle()
		for _, m := range w.masters {
			if left := m.left("ends"); left < 119*time.Second {
				t.Errorf("on %s it ends in %v", m.name, left)
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
					if len(args) > 7 && args[7] == "bring-up" && i != 1 {
						return integer(0)
					}
					return m.step(args)
				}
			})
		}
		if r := w.count("k"); r.Decision != Split || r.Script != nil {
			t.Errorf("it came to %+v", r)
		}
		w.masters[2].set(func(m *fakeMaster) { m.respond = m.step })
		w.wantNumber(w.count("k"), 49)
		w.settle()
		w.wantValues("k", "13", "49", "49")
	})
}
