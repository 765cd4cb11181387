package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// lsetStep sets the first element of a list. It acts also where that is the same already.
var lsetStep = quorum.NewStep("return redis.call('LSET', KEYS[1], 0, ARGV[1])")

func init() {
	effects[lsetStep] = func(m *fakeMaster, name string, argv []string) effect {
		l := m.list(name)
		if len(l) == 0 {
			return says(0, ":", "0")
		}
		m.setList(name, append([]string{argv[0]}, l[1:]...))
		return says(decide.FlagWrote, ":", "1")
	}
	known = append(known, journal.FormOf(lsetStep).Own())
}

// withLsetStep has masters know it, and gives them a list of three.
func (w *world) withLsetStep() {
	w.each(func(m *fakeMaster) {
		m.set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				own := journal.FormOf(lsetStep).Own()
				if len(args) > 3 && (args[1] == own.SHA || args[1] == own.Text) {
					return m.act(lsetStep, keysOf(args), args[3:])
				}
				return m.step(args)
			}
		})
	}, 1, 2, 3)
	for range 3 {
		w.stepOn(pushStep, "l", "a").wait(w.t)
	}
	w.settle()
	time.Sleep(3 * time.Second)
}

// What has changed nothing of a list makes no difference between masters of which one has missed a push: another one dies, or
// forgets.
func TestWhatChangesNothingLeavesNoMark(t *testing.T) {
	nothing := map[string]func(w *world){
		"set to what it was": func(w *world) {
			w.want(w.stepOn(lsetStep, "l", "a").wait(w.t), quorum.Won)
		},
		"another key is counted": func(w *world) {
			w.want(w.put(quorum.Request{Kind: quorum.Run, Script: watchStep, Key: "l", Keys: []string{"l", countOf("l")}}).wait(w.t), quorum.Won)
		},
	}
	for name, step := range nothing {
		for _, forgets := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				inWorldOfSteps(t, func(w *world) {
					w.withLsetStep()
					w.masters[1].latch("l", 100*ms)
					w.want(w.stepOn(pushStep, "l", "x").wait(t), quorum.Won)
					time.Sleep(150 * ms)
					w.delayed(5*ms, 3) // so 1 and 2 decide, and nobody has looked yet
					step(w)
					w.delayed(0, 3)
					w.settle()
					if !forgets {
						w.masters[2].cut()
						w.wantsPushed()
						return
					}
					w.hasForgotten(3)
					w.wantLists("l", "a a a x")
				})
			})
		}
	}
}

// Nor does what was to change nothing, and was lost.
func TestWhatIsLostAndChangesNothingLeavesNoMark(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		inWorldOfSteps(t, func(w *world) {
			w.withLsetStep()
			w.each(func(m *fakeMaster) { m.latch("l", 400*ms) }, 1, 3)
			if r := w.stepOn(lsetStep, "l", "a").wait(t); r.Decision == quorum.Won {
				t.Fatal("it is won")
			}
			time.Sleep(time.Minute)
			w.missedBy2(pushStep, "l", "x")
			if !forgets {
				w.masters[2].cut()
				w.wantsPushed()
				return
			}
			w.hasForgotten(3)
			w.wantLists("l", "a a a x")
		})
	}
}
