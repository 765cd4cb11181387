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
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

func inWorldOfSteps(t *testing.T, f func(w *world)) {
	t.Helper()
	inWorld(t, 3, func(w *world) {
		w.knowsSteps()
		f(w)
	})
}

func (w *world) putAll(key string, values ...string) {
	for i, v := range values {
		w.masters[i].put(key, v, 0)
	}
}

func TestStepLetsGoOfItsKeyOnceItIsWon(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		for n := range int64(3) {
			w.wantNumber(w.count("k"), n+1)
		}
		w.settle()
		w.wantValues("k", "3", "3", "3")
		w.wantFree("k")
	})
}

// A master whose vote does not count has carried the step out all the same.
func TestMasterThatMayNotVoteLetsGoToo(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.masters[2].put(journal.Latch("k"), "0123456789abcdef:1", time.Minute)
		record := []decide.UndoRecord{{Key: "k", After: stringDump("1")}}
		o := &op{
			Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: countStep, Key: "k"}, Said: make([]decide.Said, 3)}, db: w.engine.zero,
			turn: &turn{tags: []string{"k"}}, holder: "0123456789abcdef:1", sent: make([]sending, 3),
		}
		c := decide.Votes(0).With(quorum.Won)
		for i, v := range []quorum.Vote{quorum.Granted, quorum.Granted, quorum.Withheld} {
			c = c.Voted(i, v, true)
			o.Said[i].Journal = &decide.Journal{Acted: true, Latched: true, Undo: record}
		}
		ruling{o, c, time.Now()}.commit(2, true)
		w.settle()
		w.wantFree("k")
	})
}

func TestStepWaitsForAnotherProxysLatch(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.latch("k", 100*ms) }, 1, 2)
		began := time.Now()
		w.wantNumber(w.count("k"), 1)
		if waited := time.Since(began); waited < 90*ms || waited > 150*ms {
			t.Errorf("it took %v", waited)
		}
		w.settle()
		// What it had done on the third master meanwhile was taken back each time.
		w.wantValues("k", "1", "1", "1")
		w.wantFree("k")
	})
}

func TestStepDoesNotWaitForALatchForEver(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.latch("k", time.Minute) }, 1, 2)
		began := time.Now()
		r := w.count("k")
		if r.Decision != quorum.Split || r.Script != nil {
			t.Errorf("it came to %+v", r)
		}
		if waited := time.Since(began); waited > w.cfg.AcquireTimeout+50*ms {
			t.Errorf("it took %v", waited)
		}
		w.settle()
		w.wantValues("k", "", "", "")
		if v := w.masters[0].value(journal.Latch("k")); v != "another-proxy-00:1!" {
			t.Errorf("the latch is %q: its holder does not learn that it is in the way", v)
		}
	})
}

func TestLostStepIsTakenBackBeforeTheNo(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "7", "7", "5")
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 1, 2)
		a := &chained{newWaiter(), func(quorum.Result) {
			if v := w.masters[2].value("k"); v != "5" {
				t.Errorf("at the no it holds %q", v)
			}
			w.wantFree("k")
		}}
		r := quorum.Request{Kind: quorum.Run, Script: setStep, Key: "k", Keys: []string{"k"}, Args: []string{"5", "6"}}
		w.engine.Put(&r, a)
		w.want(a.wait(t), quorum.Contended)
		if got := w.masters[2].commands(""); !slices.Equal(got, []string{"step k", "take-back k"}) {
			t.Errorf("it was told %q", got)
		}
	})
}

// Where the undo cannot be confirmed, the step may stand, and the answer is no "no".
func TestLostStepThatMayStandIsNoNo(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		for name, spoil := range map[string]func(m *fakeMaster, key string) string{
			"changed":  func(m *fakeMaster, key string) string { m.keys[key] = fakeKey{value: "x"}; return "" },
			"gone":     func(m *fakeMaster, key string) string { delete(m.keys, journal.Latch(key)); return "" },
			"unheard":  func(m *fakeMaster, key string) string { return silence },
			"unwilled": func(m *fakeMaster, key string) string { return "-OOM command not allowed\r\n" },
		} {
			w.putAll(name, "7", "7", "5")
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 1, 2)
			w.masters[2].set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if len(args) > 9 && args[9] == "take-back" {
						if reply := spoil(m, args[3]); reply != "" {
							return reply
						}
					}
					return m.step(args)
				}
			})
			began := time.Now()
			r := w.stepOn(setStep, name, "5", "6").wait(t)
			if r.Decision != quorum.Split || r.Script != nil {
				t.Errorf("%s: it came to %+v", name, r)
			}
			if waited := time.Since(began); waited > w.cfg.AcquireTimeout+50*ms {
				t.Errorf("%s: it took %v", name, waited)
			}
			w.knowsSteps()
			time.Sleep(3 * time.Second)
		}
	})
}

// Clients of two proxies count on one key while masters come and go: no number is
// answered twice, and none that was answered is missing in the end.
func TestNoNumberIsAnsweredTwiceUnderFaults(t *testing.T) {
	notInstrumented(t)
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) { raceSteps(w, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func raceSteps(w *world, random *rand.Rand) {
	engines := []*Engine{w.engine, w.start(w.cfg)}
	for _, m := range w.masters {
		m.set(func(m *fakeMaster) { m.lag = ms })
	}
	until := time.Now().Add(3 * time.Second)
	var mu sync.Mutex // guards the next two
	answered := make(map[int64]bool)
	highest := int64(0)
	var ends sync.WaitGroup
	for i := range 6 {
		ends.Go(func() {
			for time.Now().Before(until) {
				a := newWaiter()
				engines[i%2].Put(&quorum.Request{Kind: quorum.Run, Script: countStep, Key: "k", Keys: []string{"k"}}, a)
				r := <-a.answers
				if r.Decision != quorum.Won {
					time.Sleep(time.Duration(i+1) * ms)
					continue
				}
				mu.Lock()
				if answered[r.Script.Int] {
					w.t.Errorf("%d was answered twice", r.Script.Int)
				}
				answered[r.Script.Int] = true
				highest = max(highest, r.Script.Int)
				mu.Unlock()
			}
		})
	}
	for time.Now().Before(until) {
		m := w.masters[random.IntN(3)]
		switch random.IntN(6) {
		case 0:
			m.cut()
			time.Sleep(time.Duration(random.IntN(300)) * ms)
			m.rejoin()
		case 1:
			m.sever()
		default:
			m.set(func(m *fakeMaster) { m.lag = time.Duration(100+random.IntN(3000)) * time.Microsecond })
		}
		time.Sleep(time.Duration(random.IntN(200)) * ms)
	}
	ends.Wait()
	synctest.Wait()
	if len(answered) < 100 {
		w.t.Errorf("%d were answered", len(answered))
	}
	there := 0
	for _, m := range w.masters {
		if n := m.value("k"); len(n) > 0 && strings.TrimLeft(n, "0123456789") == "" && fmt.Sprintf("%9s", n) >= fmt.Sprintf("%9d", highest) {
			there++
		}
	}
	if there < 2 {
		w.t.Errorf("%d was answered, and %d masters have counted so far", highest, there)
	}
}
