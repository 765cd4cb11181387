package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// Steps on a list tell a part of it: how long it is, or the element that was popped.

var (
	pushStep = quorum.NewExactStep("return redis.call('RPUSH', KEYS[1], ARGV[1])")
	popStep  = quorum.NewExactStep("return redis.call('LPOP', KEYS[1])")
)

func pushes(m *fakeMaster, name string, argv []string) effect {
	return carriesOut(m, name, []string{"RPUSH", name, argv[0]})
}

func popsOff(m *fakeMaster, name string, _ []string) effect {
	return carriesOut(m, name, []string{"LPOP", name})
}

// misses has a list hold no more than some elements, and not be known to be calm.
func (m *fakeMaster) misses(key string, elements ...string) {
	m.locked(func() {
		m.becomes(key, listDump(elements), "0", "", "")
		m.breaks(key)
	})
}

// A master that has missed a push answers another element. It is outvoted, and in time it is given
// what a quorum has made of the list; with another one away before that, nobody is told anything.
func TestPopTellsTheElementOfAQuorum(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		third := w.masters[2]
		w.stepOn(pushStep, "l", "a").wait(t)
		w.wantNumber(w.stepOn(pushStep, "l", "b").wait(t), 2)
		w.settle()
		third.misses("l", "a")
		w.masters[0].cut()
		if r := w.stepOn(pushStep, "l", "c").wait(t); r.Script != nil {
			t.Errorf("masters that differ answer a push with %+v", r.Script)
		}
		w.masters[0].rejoin()
		time.Sleep(3 * time.Second)
		if r := w.stepOn(popStep, "l").wait(t); r.Script == nil || r.Script.Str != "a" {
			t.Errorf("%v: %+v is popped", r.Decision, r.Script)
		}
		for range 3 {
			time.Sleep(time.Second)
			w.stepOn(pushStep, "l", "d").wait(t)
		}
		synctest.Wait()
		if one, three := w.masters[0].value("l"), third.value("l"); one != fakeList+"b,d,d,d" || three != one {
			t.Errorf("a master holds %s, and the third %s", one, three)
		}
	})
}

// One that has missed a push is given the list by the next step that it votes on in time, however short it is known
// for that nothing else has changed the list there. What it has when it is late may be newer: what it has made of that is
// taken back.
func TestMasterThatHasMissedAPushIsGivenTheListAtOnce(t *testing.T) {
	for late, behind := range map[bool]string{false: "a,b,c,d", true: "a"} {
		inWorldOfSteps(t, func(w *world) {
			third, other := w.masters[2], w.start(w.cfg)
			w.stepOn(pushStep, "l", "a").wait(t)
			w.wantNumber(w.stepOn(pushStep, "l", "b").wait(t), 2)
			time.Sleep(3 * time.Second)
			third.misses("l", "a")
			if late {
				w.delayed(50*ms, 3)
			} else {
				w.delayed(5*ms, 1, 2) // or it may be late all the same
			}
			for i, e := range []*Engine{other, w.engine} {
				a := newWaiter()
				e.Put(&quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}, Args: []string{string(rune('c' + i))}}, a)
				w.wantNumber(a.wait(t), int64(3+i))
				time.Sleep(200 * ms)
			}
			if got := strings.Join(third.elements("l"), ","); got != behind {
				t.Errorf("late: %t; it holds %s", late, got)
			}
		})
	}
}

// Where there is nothing a DEL has come first, maybe, that is still on its way to the others. Were the list given
// again there, and the DEL then lost on its way to one, a quorum would hold what it was answered to have taken.
func TestWhatADELHasTakenComesBackByNoStep(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		third := w.masters[2]
		w.delayed(5*ms, 1, 2) // what it has made when it is late would be taken back
		wants := func(length int64, element, list string) {
			t.Helper()
			w.wantNumber(w.stepOn(pushStep, "l", element).wait(t), length)
			time.Sleep(200 * ms)
			if got := strings.Join(third.elements("l"), ","); got != list {
				t.Errorf("it holds %s, not %s", got, list)
			}
		}
		wants(1, "a", "a")
		third.forget("l")
		wants(2, "b", "b")
		wants(3, "c", "b,c")
		time.Sleep(2 * w.cfg.AcquireTimeout)
		wants(4, "d", "a,b,c,d")
	})
}

func TestNoElementIsPoppedTwiceUnderFaults(t *testing.T) {
	notInstrumented(t)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) { racePops(w, rand.New(rand.NewPCG(seed, 2))) })
		})
	}
}

// pops is what clients push and pop.
type pops struct {
	mu            sync.Mutex // guards what follows
	pushed, taken map[string]bool
	unknown       int // pops that may have happened
}

func (p *pops) turn(w *world, e *Engine, element string) {
	s := pushStep
	if len(element)%2 == 0 {
		s = popStep
	}
	a := newWaiter()
	e.Put(&quorum.Request{Kind: quorum.Run, Script: s, Key: "l", Keys: []string{"l"}, Args: []string{element}}, a)
	r := <-a.answers
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case s == pushStep && r.Decision == quorum.Won:
		p.pushed[element] = true
	case s == popStep && r.Decision == quorum.Won && p.taken[r.Script.Str]:
		w.t.Errorf("%s was popped twice", r.Script.Str)
	case s == popStep && r.Decision == quorum.Won:
		p.taken[r.Script.Str] = true
	case s == popStep && r.Script == nil:
		p.unknown++
	}
}

// racePops has one master after the other be troubled, and given what it has missed.
func racePops(w *world, random *rand.Rand) {
	engines := []*Engine{w.engine, w.start(w.cfg)}
	for _, m := range w.masters {
		m.set(func(m *fakeMaster) { m.lag = ms })
	}
	until := time.Now().Add(12 * time.Second)
	p := &pops{pushed: make(map[string]bool), taken: make(map[string]bool)}
	var ends sync.WaitGroup
	for i := range 6 {
		ends.Go(func() {
			for n := 0; time.Now().Before(until); n++ {
				p.turn(w, engines[i%2], fmt.Sprintf("%d.%s", i, strings.Repeat("x", n%2)+fmt.Sprintf("%05d", n)))
				time.Sleep(time.Duration(i+1) * ms)
			}
		})
	}
	for i := 0; time.Now().Before(until); i++ {
		switch m := w.masters[i%3]; random.IntN(3) {
		case 0:
			m.cut()
			time.Sleep(time.Duration(random.IntN(300)) * ms)
			m.rejoin()
		case 1:
			m.sever()
		default:
			m.set(func(m *fakeMaster) { m.lag = time.Duration(100+random.IntN(3000)) * time.Microsecond })
		}
		time.Sleep(time.Duration(1500+random.IntN(1000)) * ms)
	}
	ends.Wait()
	synctest.Wait()
	lost := 0
	for element := range p.pushed {
		holding := 0
		for _, m := range w.masters {
			if slices.Contains(m.elements("l"), element) {
				holding++
			}
		}
		if !p.taken[element] && holding < 2 {
			lost++
		}
	}
	if lost > p.unknown {
		w.t.Errorf("%d elements are lost, and %d pops may have happened", lost, p.unknown)
	}
	if len(p.taken) < 100 {
		w.t.Errorf("%d elements were popped", len(p.taken))
	}
}
