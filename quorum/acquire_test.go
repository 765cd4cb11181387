package quorum

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestGrantThatComesTooLateDoesNotWin(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 300 * ms }) }, 2, 3)
		began := time.Now()
		r := w.acquire("k", "t", time.Minute)
		w.want(r, Unavailable)
		if took := time.Since(began); took < 250*ms || took > 275*ms {
			t.Errorf("it took %v to say so", took)
		}
		time.Sleep(700 * ms)
		w.wantValues("k", "", "", "")
		for _, m := range w.masters {
			if got := m.commands("SET k"); len(got) != 1 {
				t.Errorf("%s carried out %q", m.name, got)
			}
		}
	})
}

func TestDecisionIsNotLaterThanHalfOfTheTTL(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 60 * ms }) }, 1, 2, 3)
		w.want(w.acquire("k", "t", 100*ms), Unavailable)
		time.Sleep(time.Second)
		w.want(w.acquire("k2", "t", 130*ms), Won)
	})
}

func TestExpiriesArePaddedAndReadsAreNot(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 30*time.Second), Won)
		w.want(w.extend("k", "t", 10*time.Second), Won)
		for _, m := range w.masters {
			if got := m.commands("SET"); len(got) != 1 || got[0] != "SET k t NX GET PX 30302" {
				t.Errorf("%s was told %q", m.name, got)
			}
			if got := m.commands("extend"); len(got) != 1 || got[0] != "extend k t 10102" {
				t.Errorf("%s was told %q", m.name, got)
			}
		}
		r := w.read("k")
		if want := unpad(10102 * ms); r.TTL != want {
			t.Errorf("the ttl reads %v, want %v", r.TTL, want)
		}
	})
}

// engines starts n engines over the world's masters.
func (w *world) more(n int) []*Engine {
	for range n {
		w.start(w.cfg)
	}
	return w.engines
}

// ask puts a request to one engine of several.
func askOf(e *Engine, r Request) *waiter {
	a := newWaiter()
	e.Put(&r, a)
	return a
}

// Two proxies divide the masters between them: nobody has a quorum, both are
// undone and try again, and the lock goes to one of them.
func TestSplitVoteIsUndoneAndTriedAgain(t *testing.T) {
	for round := range 20 {
		inWorld(t, 4, func(w *world) {
			e := w.more(1)
			// Half of the masters hear the one first, and half the other.
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 2 * ms }) }, 1, 2)
			a := askOf(e[0], Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Minute})
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 0 }) }, 1, 2)
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 2 * ms }) }, 3, 4)
			b := askOf(e[1], Request{Kind: Acquire, Key: "k", Token: "b", TTL: time.Minute})
			ra, rb := <-a.answers, <-b.answers
			if ra.Decision == Won && rb.Decision == Won {
				t.Fatalf("round %d: both won", round)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			held := make(map[string]int)
			for _, m := range w.masters {
				held[m.value("k")]++
			}
			switch {
			case ra.Decision == Won && held["b"] > 0, rb.Decision == Won && held["a"] > 0:
				t.Errorf("round %d: the loser left %v behind", round, held)
			case ra.Decision != Won && rb.Decision != Won && held[""] != 4:
				t.Errorf("round %d: nobody won, and %v is held", round, held)
			}
		})
	}
}

func TestTwoProxiesThatDivideTheMastersBothTryAgain(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		e := w.more(1)
		// Each finds one master for itself; the third is down, so that neither
		// can have a quorum the first time.
		w.down(3)
		first := func(m *fakeMaster, token string) {
			m.set(func(m *fakeMaster) {
				met := false
				m.respond = func(args []string) string {
					if args[0] == "SET" && !met && args[2] != token {
						met = true
						return bulk(token) // as if the other had been there before
					}
					return ""
				}
			})
		}
		first(w.masters[0], "a")
		first(w.masters[1], "b")
		a := askOf(e[0], Request{Kind: Acquire, Key: "k", Token: "a", TTL: time.Minute})
		b := askOf(e[1], Request{Kind: Acquire, Key: "k", Token: "b", TTL: time.Minute})
		ra, rb := <-a.answers, <-b.answers
		if (ra.Decision == Won) == (rb.Decision == Won) {
			t.Errorf("a %v, b %v: one of them should have it", ra.Decision, rb.Decision)
		}
		if s0, s1 := e[0].Status().Splits, e[1].Status().Splits; s0 == 0 && s1 == 0 {
			t.Error("nothing was split")
		}
	})
}

// After its retries a split is a no, and nothing is left behind.
func TestSplitThatDoesNotEndIsAnswered(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		// Two masters are down for the engine, one is another's, and one of the
		// other two refuses all the time.
		w.down(4, 5)
		w.masters[0].put("k", "x", time.Hour)
		w.masters[1].put("k", "y", time.Hour)
		r := w.acquire("k", "t", time.Minute)
		w.want(r, Split)
		if s := w.engine.Status(); s.Splits != 4 || s.Undos != 4 || s.InFlight != 0 {
			t.Errorf("%d splits, %d undos, %d in flight", s.Splits, s.Undos, s.InFlight)
		}
		w.settle()
		w.wantValues("k", "x", "y", "", "", "")
	})
}

// Many clients of one engine want one key at once.
func TestClientsOfOneProxyNeverSplitAVote(t *testing.T) {
	for _, n := range []int{3, 4, 5} {
		inWorld(t, n, func(w *world) {
			for i, m := range w.masters {
				m.set(func(m *fakeMaster) { m.lag = time.Duration(i) * ms })
			}
			const clients = 200
			var askers []*waiter
			done := make(chan *waiter)
			for i := range clients {
				go func() {
					done <- w.put(Request{Kind: Acquire, Key: "k", Token: fmt.Sprint("t", i), TTL: time.Minute})
				}()
			}
			for range clients {
				askers = append(askers, <-done)
			}
			won := 0
			for _, a := range askers {
				switch r := a.wait(t); r.Decision {
				case Won:
					won++
				case Contended:
				default:
					t.Errorf("%v", r.Decision)
				}
			}
			if won != 1 {
				t.Errorf("%d of %d clients won", won, clients)
			}
			w.settle()
			token := w.masters[0].value("k")
			for _, m := range w.masters {
				if v := m.value("k"); v != token || v == "" {
					t.Errorf("%s holds %q, %s holds %q", m.name, v, w.masters[0].name, token)
				}
			}
			if s := w.engine.Status(); s.Splits != 0 {
				t.Errorf("%d splits", s.Splits)
			}
		})
	}
}

func TestMastersBeforeSevenAreAskedWithoutGET(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		w.masters[0].version, w.masters[1].version = "6.2.14", "5.0.1"
		w.engine = w.start(w.cfg)
		w.want(w.acquire("k", "a", time.Minute), Won)
		r := w.acquire("k", "b", time.Minute)
		w.want(r, Contended)
		if r.Exists {
			t.Errorf("one master of three named %q, and that is told", r.Value)
		}
		w.wantValues("k", "a", "a", "a")
		for i, m := range w.masters {
			for _, c := range m.commands("SET") {
				if strings.Contains(c, "GET") != (i == 2) {
					t.Errorf("%s was asked %q", m.name, c)
				}
			}
		}
	})
}

func TestKeyOfAnotherTypeIsTaken(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters {
			m.set(func(m *fakeMaster) { m.keys["k"] = fakeKey{hash: true} })
		}
		r := w.acquire("k", "t", time.Minute)
		w.want(r, Contended)
		for name, r := range map[string]Result{
			"acquire": r, "release": w.release("k", "t"), "extend": w.extend("k", "t", time.Minute),
			"get": w.ask(Request{Kind: Read, Key: "k", ValueOnly: true}),
		} {
			if r.Reply.Kind != FailureReply || !strings.HasPrefix(r.Reply.Str, "WRONGTYPE ") {
				t.Errorf("%s is told %+v", name, r)
			}
		}
		if r := w.read("k"); !r.Exists || r.Type != "hash" || r.TTL != NoTTL {
			t.Errorf("read %+v", r)
		}
		w.want(w.ask(Request{Kind: Remove, Key: "k"}), Won)
		w.want(w.acquire("k", "t", time.Minute), Won)
	})
}
