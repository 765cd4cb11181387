package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// acquirers puts an acquire of k for each of n clients.
func (w *world) acquirers(n int) (waiters []*waiter) {
	for i := range n {
		waiters = append(waiters, w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: fmt.Sprint("t", i), TTL: time.Minute}))
	}
	return waiters
}

func TestAcquiresOfAHeldLockShareOneAttempt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "holder", time.Minute), quorum.Won)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 10 * ms; m.log = nil }) }, 1, 2, 3)
		for _, a := range w.acquirers(100) {
			r := a.wait(t)
			if w.want(r, quorum.Contended); r.Value != "holder" {
				t.Errorf("told of %q", r.Value)
			}
		}
		for _, m := range w.masters {
			if n := len(m.commands("SET")); n != 2 {
				t.Errorf("%s saw %d attempts, want that of the first and one for all others", m.name, n)
			}
		}
		if s := w.engine.Status(); s.Shared != 98 || s.InFlight != 0 {
			t.Errorf("%d were shared, %d in flight", s.Shared, s.InFlight)
		}
	})
}

// A refusal that does not tell what is there is none for those who ask for it.
func TestSharedRefusalTellsTheValueToThoseWhoAskForIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.masters[0].put("k", "a", time.Minute)
		w.masters[1].put("k", "b", time.Minute)
		w.masters[2].put("k", "a", time.Minute)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 10 * ms }) }, 1, 2, 3)
		w.masters[2].set(func(m *fakeMaster) { m.delay = 20 * ms })
		waiters := w.acquirers(3)
		tells := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute, TellsValue: true})
		for _, a := range waiters {
			if r := a.wait(t); r.Decision != quorum.Contended || r.Exists {
				t.Errorf("%+v", r)
			}
		}
		if r := tells.wait(t); r.Decision != quorum.Contended || r.Value != "a" {
			t.Errorf("%+v", r)
		}
		if s := w.engine.Status(); s.InFlight != 0 {
			t.Errorf("%d are in flight", s.InFlight)
		}
	})
}

// The lock is free: the first wins, and what is shared is refused in favour of
// the one that leads it.
func TestSharedAttemptHasOneWinner(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 10 * ms }) }, 1, 2, 3)
		waiters := w.acquirers(20)
		w.want(waiters[0].wait(t), quorum.Won)
		for _, a := range waiters[1:] {
			r := a.wait(t)
			if w.want(r, quorum.Contended); r.Value != "t0" {
				t.Errorf("told of %q", r.Value)
			}
		}
		w.settle()
		w.wantValues("k", "t0", "t0", "t0")

		// Released while an attempt is in flight: the next in line gets it, and
		// those who share with it hear of its token.
		waiters = w.acquirers(5)
		released := w.put(quorum.Request{Kind: quorum.Release, Key: "k", Token: "t0"})
		w.want(waiters[0].wait(t), quorum.Contended)
		w.want(released.wait(t), quorum.Won)
		w.want(waiters[1].wait(t), quorum.Won)
		for _, a := range waiters[2:] {
			r := a.wait(t)
			if w.want(r, quorum.Contended); r.Value != "t1" {
				t.Errorf("told of %q", r.Value)
			}
		}
	})
}

// Who asks before an attempt is made once more shares it.
func TestAttemptIsSharedByAllWhoAskedBeforeIt(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.masters[0].put("k", "other", time.Minute)
		first := w.put(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "t", TTL: time.Minute})
		time.Sleep(ms) // it is split, and waits to be tried again
		waiters := w.acquirers(10)
		w.want(first.wait(t), quorum.Split)
		for _, a := range waiters {
			w.want(a.wait(t), quorum.Split)
		}
		if n := len(w.masters[0].commands("SET")); n != 1+w.cfg.SplitRetries {
			t.Errorf("there were %d attempts, want those of the first", n)
		}
	})
}

// That too few masters could vote is nobody's answer but the asker's own.
func TestUnavailableIsNotShared(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(1)
		for _, m := range w.masters[1:] {
			m.freeze()
		}
		waiters := w.acquirers(3)
		w.want(waiters[0].wait(t), quorum.Unavailable)
		w.masters[1].unfreeze()
		w.masters[2].unfreeze()
		time.Sleep(time.Second)
		r1, r2 := waiters[1].wait(t), waiters[2].wait(t)
		if r1.Decision == quorum.Contended && r2.Decision == quorum.Contended {
			t.Errorf("%v, %v: nobody was answered for itself", r1.Decision, r2.Decision)
		}
		if n := w.engine.Status().InFlight; n != 0 {
			t.Errorf("%d are in flight", n)
		}
	})
	// With all masters down a long line is answered, each for itself.
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.freeze() }, 1, 2, 3)
		waiters := w.acquirers(5000)
		w.each(func(m *fakeMaster) { m.unfreeze(); m.cut() }, 1, 2, 3)
		for _, a := range waiters {
			w.want(a.wait(t), quorum.Unavailable)
		}
	})
}

func TestCloseAnswersThoseWhoWait(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.each(func(m *fakeMaster) { m.freeze() }, 1, 2, 3)
		waiters := w.acquirers(50)
		w.stop(w.engine)
		for _, a := range waiters {
			w.want(<-a.answers, quorum.Unavailable)
		}
	})
}
