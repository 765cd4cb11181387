package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
)

// pushes has clients of some proxies push on a list for so long, and tells how many pushes there were, and how often it was
// answered that nobody knows what came of one.
func (w *world) pushes(lasts time.Duration, engines ...*Engine) (all, unknown int) {
	answers, until, clients := make(chan quorum.Decision, 1000), time.Now().Add(lasts), 2*len(engines)
	for i := range clients {
		go func() {
			for n := 0; time.Now().Before(until); n++ {
				r := quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}, Args: []string{fmt.Sprint(i, ".", n)}}
				answers <- (<-putTo(engines[i/2], r).answers).Decision
				time.Sleep(time.Duration(i+1) * ms)
			}
			answers <- quorum.Undecided
		}()
	}
	for clients > 0 {
		switch <-answers {
		case quorum.Undecided:
			clients--
		case quorum.Won:
			all++
		default:
			all, unknown = all+1, unknown+1
		}
	}
	return all, unknown
}

// Any minority may be late, or refuse what it is asked for, while clients of two proxies push on one list.
func TestMinorityKeepsNobodyFromPushing(t *testing.T) {
	trouble := map[string]func(m *fakeMaster){
		"late by 20 ms":  func(m *fakeMaster) { m.lag = 20 * ms },
		"late by 100 ms": func(m *fakeMaster) { m.lag = 100 * ms },
		"late by 200 ms": func(m *fakeMaster) { m.lag = 200 * ms },
		"answers late":   func(m *fakeMaster) { m.delay = 150 * ms },
		"memory is full": func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if strings.HasPrefix(args[0], "EVAL") && keysOf(args) > 0 && args[3] == "l" {
					return "-OOM command not allowed when used memory > 'maxmemory'.\r\n"
				}
				return ""
			}
		},
	}
	for name, troubled := range trouble {
		for _, masters := range []int{3, 5} {
			if masters == 5 && name != "late by 100 ms" {
				continue
			}
			t.Run(fmt.Sprint(name, ", ", masters), func(t *testing.T) {
				inWorld(t, masters, func(w *world) {
					w.knowsSteps()
					other := w.start(w.cfg)
					w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = ms }) }, 1, 2, 3)
					w.each(func(m *fakeMaster) { m.set(troubled) }, 1)
					if masters == 5 {
						w.each(func(m *fakeMaster) { m.set(troubled) }, 5)
					}
					all, unknown := w.pushes(3*time.Second, w.engine, other)
					if all < 100 || unknown > 2+all/100 {
						t.Errorf("of %d pushes %d are unknown", all, unknown)
					}
					synctest.Wait()
				})
			})
		}
	}
}

// mayHave are the masters that may have done what was not won, a bit for each.
func mayHave(r quorum.Result) uint16 {
	if r.Tried == nil {
		return 0
	}
	return r.Tried.MayHaveDone()
}

// A quorum holds an element, of which one is busy with the step of a proxy that is gone, and the third has missed it.
func TestPopTellsNoNilWhereAQuorumMayHaveAnElement(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 1)
		w.settle()
		w.masters[2].forget("l")
		w.masters[1].latch("l", time.Minute)
		if r := w.stepOn(popStep, "l").wait(t); r.Decision == quorum.Contended || r.Script != nil {
			t.Errorf("it came to %v, %+v", r.Decision, r.Script)
		}
	})
}

// cutsTakeBacks has a master be cut off before it answers that something is taken back there.
func (m *fakeMaster) cutsTakeBacks() {
	m.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if args[0] == "EVALSHA" && args[1] == latchScript.SHA && args[9] == "take-back" {
				m.delay = time.Second
				time.AfterFunc(ms, m.cut)
			}
			return m.step(args)
		}
	})
}

// What is put back was done by one master, which does not confirm that it was taken back there: it alone may have it.
func TestWhoDoesNotConfirmMayHaveIt(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 1)
		w.settle()
		w.masters[0].cutsTakeBacks()
		w.each(func(m *fakeMaster) { m.latch("l", time.Minute) }, 2, 3)
		r := w.put(quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}, Args: []string{"x"}, GivesBack: true}).wait(t)
		if r.Decision == quorum.Won || mayHave(r) != 1 {
			t.Errorf("it came to %v, and %b may have done it", r.Decision, mayHave(r))
		}
	})
}

// Who may have done a push in its first try is asked in no other.
func TestWhoMayHaveDoneItIsLeftOutToTheEnd(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 1)
		w.settle()
		first := w.masters[0]
		first.cutsTakeBacks()
		w.each(func(m *fakeMaster) { m.latch("l", 150*ms) }, 2, 3)
		a := w.stepOn(pushStep, "l", "x")
		time.Sleep(20 * ms)
		again := 0
		first.set(func(m *fakeMaster) {
			m.delay = 0
			m.respond = func(args []string) string {
				if own := journal.FormOf(pushStep).Own(); strings.HasPrefix(args[0], "EVAL") && (args[1] == own.SHA || args[1] == own.Text) {
					again++
				}
				return m.step(args)
			}
		})
		w.up(1)
		w.wantNumber(a.wait(t), 2)
		w.settle()
		if first.locked(func() {}); again > 0 {
			t.Errorf("it was sent it %d times more", again)
		}
	})
}

// Nobody but one master is there for what is put back, or nobody at all: once it is taken back there, he is one of the quorum
// that it is put back on.
func TestWhatIsPutBackIsAskedOfWhoHasTakenItBack(t *testing.T) {
	for _, away := range [][]int{{2, 3}, {1, 2, 3}} {
		inWorldOfSteps(t, func(w *world) {
			w.wantNumber(w.stepOn(pushStep, "l", "a").wait(t), 1)
			w.settle()
			w.down(away...)
			back := quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}, Args: []string{"x"}, GivesBack: true}
			r := w.put(back).wait(t)
			w.settle()
			if r.Decision != quorum.Unavailable || mayHave(r) != 0 {
				t.Errorf("%v away: it came to %v, and %b may have done it", away, r.Decision, mayHave(r))
			}
			for _, n := range away {
				if n != 2 {
					w.up(n)
				}
			}
			back.Again = r.Tried
			w.wantNumber(w.put(back).wait(t), 2)
		})
	}
}

// Who has taken back what he had done in an earlier try, and has told so late, is asked in the next one.
func TestWhoIsKnownNotToHaveItIsAskedAgain(t *testing.T) {
	for range 20 { // how long it waits between tries is random
		inWorldOfSteps(t, testWhoIsKnownNotToHaveIt)
	}
}

func testWhoIsKnownNotToHaveIt(w *world) {
	w.wantNumber(w.stepOn(pushStep, "l", "a").wait(w.t), 1)
	w.settle()
	first, late := w.masters[0], false
	first.set(func(m *fakeMaster) {
		m.respond = func(args []string) string {
			if args[0] == "EVALSHA" && args[1] == latchScript.SHA && args[9] == "take-back" && !late {
				late, m.delay = true, 60*ms
				time.AfterFunc(30*ms, func() { m.set(func(m *fakeMaster) { m.delay = 0 }) })
			}
			return m.step(args)
		}
	})
	w.each(func(m *fakeMaster) { m.latch("l", 150*ms) }, 2, 3)
	a := w.stepOn(pushStep, "l", "x")
	time.Sleep(5 * ms)
	w.masters[2].forget("l") // 2 and 3 are not alike, so it takes 1
	w.wantNumber(a.wait(w.t), 2)
	w.settle()
	if got := first.elements("l"); len(got) != 2 {
		w.t.Errorf("%v", got)
	}
}
