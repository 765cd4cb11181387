package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// engines starts n engines over the world's masters.
func (w *world) more(n int) []*Engine {
	for range n {
		w.start(w.cfg)
	}
	return w.engines
}

// ask puts a request to one engine of several.
func askOf(e *Engine, r quorum.Request) *waiter {
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
			a := askOf(e[0], quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 0 }) }, 1, 2)
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = 2 * ms }) }, 3, 4)
			b := askOf(e[1], quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
			ra, rb := <-a.answers, <-b.answers
			if ra.Decision == quorum.Won && rb.Decision == quorum.Won {
				t.Fatalf("round %d: both won", round)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			held := make(map[string]int)
			for _, m := range w.masters {
				held[m.value("k")]++
			}
			switch {
			case ra.Decision == quorum.Won && held["b"] > 0, rb.Decision == quorum.Won && held["a"] > 0:
				t.Errorf("round %d: the loser left %v behind", round, held)
			case ra.Decision != quorum.Won && rb.Decision != quorum.Won && held[""] != 4:
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
		a := askOf(e[0], quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute})
		b := askOf(e[1], quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute})
		ra, rb := <-a.answers, <-b.answers
		if (ra.Decision == quorum.Won) == (rb.Decision == quorum.Won) {
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
		w.want(r, quorum.Split)
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
					done <- w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: fmt.Sprint("t", i), TTL: time.Minute})
				}()
			}
			for range clients {
				askers = append(askers, <-done)
			}
			won := 0
			for _, a := range askers {
				switch r := a.wait(t); r.Decision {
				case quorum.Won:
					won++
				case quorum.Contended:
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
