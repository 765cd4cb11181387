package engine

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

func TestHungMasterCostsNothing(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		cycle := func(i int) {
			k := fmt.Sprint("k", i)
			w.want(w.acquire(k, "t", time.Minute), quorum.Won)
			w.want(w.extend(k, "t", time.Minute), quorum.Won)
			w.want(w.release(k, "t"), quorum.Won)
		}
		cycle(0)
		goroutines := runtime.NumGoroutine()
		w.masters[1].freeze()
		slowest := time.Duration(0)
		for i := range 2000 {
			began := time.Now()
			cycle(i)
			slowest = max(slowest, time.Since(began))
			time.Sleep(5 * ms)
			if s := w.engine.Status().Masters[1]; s.Queue > maxReleases || s.Debts > maxDebts {
				t.Fatalf("%+v", s)
			}
		}
		if slowest > 0 {
			t.Errorf("a lock took %v", slowest)
		}
		// The fake master's own goroutines stand for its connections.
		dials := 0
		w.masters[1].locked(func() { dials = w.masters[1].dials })
		if now := runtime.NumGoroutine() - dials; now > goroutines+3 {
			t.Errorf("%d goroutines, %d before", now, goroutines)
		}
		w.masters[1].unfreeze()
		time.Sleep(time.Second + 10*ms) // and not when a deadline of its new connection ends
		if s := w.engine.Status().Masters[1]; s.State != quorum.Voting || s.Debts != 0 || s.Queue != 0 {
			t.Errorf("a second after the thaw: %+v", s)
		}
		w.masters[0].cut()
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
	})
}

func TestMasterIsUsedWithinASecondOfItsReturn(t *testing.T) {
	for name, f := range map[string][2]func(*fakeMaster){
		"cut off": {(*fakeMaster).cut, (*fakeMaster).rejoin},
		"frozen":  {(*fakeMaster).freeze, (*fakeMaster).unfreeze},
	} {
		for away := range 20 {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "t", time.Hour), quorum.Won)
				w.each(f[0], 3)
				for i := range 40 + 3*away {
					w.want(w.acquire(fmt.Sprint(i), "t", time.Minute), quorum.Won)
					time.Sleep(77 * ms)
				}
				w.each(f[1], 3)
				time.Sleep(time.Second)
				if s := w.engine.Status().Masters[2]; s.State != quorum.Voting {
					t.Errorf("%s: a second after its return it is %v: %s", name, s.State, s.Reason)
				}
			})
		}
	}
}

func TestIdleConnectionIsKeptAndProbed(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		time.Sleep(time.Minute)
		s := w.engine.Status().Masters[0]
		if s.State != quorum.Voting || s.Reconnects != 0 {
			t.Errorf("%+v", s)
		}
		// A master that hangs while nobody asks is noticed, too.
		w.masters[0].freeze()
		time.Sleep(w.cfg.ProbeInterval + w.cfg.MasterTimeout + 100*ms)
		if s := w.engine.Status().Masters[0]; s.State != quorum.Down || s.Reason != "no answer in time" {
			t.Errorf("%+v", s)
		}
		if !w.engine.Ready() {
			t.Error("two of three are a quorum")
		}
		w.masters[1].freeze()
		time.Sleep(w.cfg.ProbeInterval + w.cfg.MasterTimeout + 100*ms)
		if w.engine.Ready() {
			t.Error("one of three is no quorum")
		}
	})
}

func TestCloseDecidesWhatIsUnderWay(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, m := range w.masters {
			m.set(func(m *fakeMaster) { m.delay = 50 * ms })
		}
		w.want(w.acquire("r", "t", time.Minute), quorum.Won)
		var under []*waiter
		for i := range 10 {
			under = append(under, w.put(quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint(i), Token: "t", TTL: time.Minute}))
		}
		eternal := w.put(quorum.Request{Kind: quorum.Acquire, Key: "e", Token: "t"})
		release := w.put(quorum.Request{Kind: quorum.Release, Key: "r", Token: "t"})
		w.stop(w.engine)
		for _, a := range append(under, eternal, release) {
			w.want(<-a.answers, quorum.Won)
		}
		w.wantValues("r", "", "", "")
		w.wantValues("e", "t", "t", "t")
		if left := w.masters[0].left("e"); left != -1 {
			t.Errorf("a lock without ttl was left with %v", left)
		}
		w.want(w.acquire("later", "t", time.Minute), quorum.Unavailable)
		w.want(w.release("1", "t"), quorum.Unavailable)
		w.settle()
		w.wantValues("later", "", "", "")
	})
}

func TestCloseSendsUndosAndPaysDebts(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "x", time.Minute)
		w.masters[1].put("k", "x", time.Minute)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 100 * ms })
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		synctest.Wait()
		w.stop(w.engine)
		w.want(<-a.answers, quorum.Contended)
		w.wantValues("k", "x", "x", "")
	})
}

// With masters that never answer again, everybody who asked is answered, and
// Close returns when its time is up.
func TestCloseEndsWithFrozenMasters(t *testing.T) {
	for _, frozen := range [][]int{{1}, {1, 2}, {1, 2, 3}} {
		for _, patience := range []time.Duration{0, 10 * ms, 100 * ms, 5 * time.Second} {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("r", "t", time.Minute), quorum.Won)
				w.settle()
				w.each((*fakeMaster).freeze, frozen...)
				var askers []*waiter
				for i := range 10 {
					askers = append(askers, w.put(quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint(i), Token: "t", TTL: time.Minute}),
						w.put(quorum.Request{Kind: quorum.Acquire, Key: fmt.Sprint("e", i), Token: "t"}))
				}
				askers = append(askers, w.put(quorum.Request{Kind: quorum.Release, Key: "r", Token: "t"}))
				began := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				w.engine.Close(ctx)
				if took := time.Since(began); took > patience || took > 1500*ms {
					t.Errorf("%v frozen: Close took %v of %v", frozen, took, patience)
				}
				for i, a := range askers {
					select {
					case <-a.answers:
					default:
						t.Fatalf("%v frozen, %v to close: asker %d was not answered", frozen, patience, i)
					}
				}
				if n := w.engine.Status().InFlight; n != 0 {
					t.Errorf("%d in flight", n)
				}
			})
		}
	}
}

// A split that nobody will try again is answered.
func TestCloseAnswersASplit(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "x", time.Minute)
		w.masters[2].freeze()
		a := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		synctest.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		w.engine.Close(ctx)
		if r := a.wait(t); r.Decision == quorum.Won {
			t.Errorf("%+v", r)
		}
	})
}

// TestScriptThatIsNotAnsweredInTimeMayHaveToiled, which is not said of one that nobody was asked.
func TestScriptThatIsNotAnsweredInTimeMayHaveToiled(t *testing.T) {
	for _, test := range []struct {
		away   func(*fakeMaster)
		settle time.Duration
		want   bool
	}{{(*fakeMaster).freeze, 0, true}, {(*fakeMaster).cut, time.Second, false}} {
		inWorld(t, 3, func(w *world) {
			run := lockOf("k", "t", 60_000)
			if r := w.ask(run); r.Decision != quorum.Won || r.Toiled {
				t.Errorf("%v, toiled: %v; want Won, and false", r.Decision, r.Toiled)
			}
			w.each(test.away, 2, 3)
			time.Sleep(test.settle)
			if r := w.ask(run); r.Decision != quorum.Unavailable || r.Toiled != test.want {
				t.Errorf("%v, toiled: %v; want Unavailable, and %v", r.Decision, r.Toiled, test.want)
			}
		})
	}
}
