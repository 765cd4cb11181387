package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
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
		w.masters[2].put(latchKeys+"k", "0123456789abcdef:1", time.Minute)
		record := []decide.UndoRecord{{Key: "k", After: stringDump("1")}}
		o := &op{
			Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: countStep, Key: "k"}, Said: make([]decide.Said, 3)}, db: w.engine.zero,
			turn: &turn{keys: []string{"k"}}, holder: "0123456789abcdef:1", sent: make([]sending, 3),
		}
		c := decide.Votes(0).With(quorum.Won)
		for i, v := range []quorum.Vote{quorum.Granted, quorum.Granted, quorum.Withheld} {
			c = c.Voted(i, v, true)
			o.Said[i].Journal = &decide.Journal{Acted: true, Undo: record}
		}
		ruling{o, c, time.Now()}.commit(2)
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
		if v := w.masters[0].value(latchKeys + "k"); v != "another-proxy-00:1!" {
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
			"gone":     func(m *fakeMaster, key string) string { delete(m.keys, latchKeys+key); return "" },
			"unheard":  func(m *fakeMaster, key string) string { return silence },
			"unwilled": func(m *fakeMaster, key string) string { return "-OOM command not allowed\r\n" },
		} {
			w.putAll(name, "7", "7", "5")
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 1, 2)
			w.masters[2].set(func(m *fakeMaster) {
				m.respond = func(args []string) string {
					if len(args) > 7 && args[7] == "take-back" {
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

func TestStepsOfOneProxyTakeTurns(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.masters[2].set(func(m *fakeMaster) { m.lag = 3 * ms }) // is always behind
		var waiters []*waiter
		for range 20 {
			waiters = append(waiters, w.stepOn(countStep, "k"))
		}
		for n, a := range waiters {
			w.wantNumber(a.wait(t), int64(n+1))
		}
		w.settle()
		time.Sleep(time.Second)
		w.wantValues("k", "20", "20", "20")
		w.wantFree("k")
		for _, m := range w.masters {
			if busy := m.commands("busy"); len(busy) > 0 {
				t.Errorf("%s: %q", m.name, busy)
			}
		}
	})
}

// A step on two keys waits for those on either, and those behind it for it.
func TestStepOnSeveralKeysTakesItsTurnOnEach(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 5 * ms }) }, 1, 2, 3)
		var mu sync.Mutex
		var order []string
		put := func(name string, keys ...string) *waiter {
			a := &chained{newWaiter(), func(quorum.Result) {
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
			}}
			w.engine.Put(&quorum.Request{Kind: quorum.Run, Script: countStep, Key: keys[0], Keys: keys}, a)
			return a.waiter
		}
		var waiters []*waiter
		waiters = append(waiters, put("a", "a"), put("b1", "b"), put("b2", "b"), put("ab", "b", "a", "b"), put("a2", "a"), put("c", "c"))
		for _, a := range waiters {
			a.wait(t)
		}
		at := func(name string) int { return slices.Index(order, name) }
		if at("ab") < at("a") || at("ab") < at("b2") || at("b2") < at("b1") || at("a2") < at("ab") || at("c") > at("ab") {
			t.Errorf("the order is %v", order)
		}
		time.Sleep(w.cfg.AcquireTimeout)
		if n := len(w.engine.zero.turns.lines); n != 0 {
			t.Errorf("%d lines are left", n)
		}
	})
}

func TestTurnThatDoesNotComeIsGivenUp(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each((*fakeMaster).freeze, 1, 2, 3)
		began := time.Now()
		var waiters []*waiter
		for range 100 {
			waiters = append(waiters, w.stepOn(countStep, "k"))
		}
		for _, a := range waiters {
			w.want(a.wait(t), quorum.Unavailable)
		}
		if waited := time.Since(began); waited > 2*w.cfg.AcquireTimeout {
			t.Errorf("it took %v", waited)
		}
		w.each((*fakeMaster).unfreeze, 1, 2, 3)
		time.Sleep(5 * time.Second)
		w.want(w.count("k"), quorum.Won)
	})
}

// A proxy whose clients never pause lets another one have its turn.
func TestProxyGivesWayToAnother(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = ms }) }, 1, 2, 3)
		other := w.start(w.cfg)
		busy := w.engine
		var ends sync.WaitGroup
		until := time.Now().Add(2 * time.Second)
		for range 5 {
			ends.Go(func() {
				for time.Now().Before(until) {
					a := newWaiter()
					busy.Put(&quorum.Request{Kind: quorum.Run, Script: countStep, Key: "k", Keys: []string{"k"}}, a)
					if r := <-a.answers; r.Decision != quorum.Won {
						t.Errorf("the one that is there first: %v", r.Decision)
					}
				}
			})
		}
		w.engine = other
		n := 0
		for time.Now().Before(until) {
			if r := <-w.stepOn(countStep, "k").answers; r.Decision != quorum.Won {
				t.Errorf("the other, after %d: %v", n, r.Decision)
			}
			n++
		}
		ends.Wait()
		if n < 10 {
			t.Errorf("it had %d turns", n)
		}
	})
}

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

// Clients of two proxies count on one key while masters come and go: no number is
// answered twice, and none that was answered is missing in the end.
func TestNoNumberIsAnsweredTwiceUnderFaults(t *testing.T) {
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
			m.mend()
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
