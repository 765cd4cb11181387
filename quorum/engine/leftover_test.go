package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// What follows from votes may come to more than a batch holds. What does not fit is still
// carried out before any later command on its key.

// eachWay runs f in a world of masters that are near, and in one of masters that are far.
func eachWay(t *testing.T, f func(w *world)) {
	t.Run("near", func(t *testing.T) { inWorld(t, 3, f) })
	t.Run("far", func(t *testing.T) { inFarWorld(t, f) })
}

// delayed has masters answer a batch so much later.
func (w *world) delayed(by time.Duration, numbers ...int) {
	w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = by }) }, numbers...)
}

// lagging has masters carry out later what they are sent.
func (w *world) lagging(by time.Duration, numbers ...int) {
	w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.lag = by }) }, numbers...)
}

// occupied has all masters be busy with something that goes alone while f runs, so that what is
// asked there goes together.
func (w *world) occupied(f func()) {
	w.each((*fakeMaster).freeze, 1, 2, 3)
	busy := w.put(quorum.Request{Kind: quorum.Survey, Args: []string{"DBSIZE"}})
	synctest.Wait()
	time.Sleep(20 * ms) // it has arrived
	f()
	w.each((*fakeMaster).unfreeze, 1, 2, 3)
	w.want(busy.wait(w.t), quorum.Won)
}

// takesBack has master 1 take back three batches full of keys: k0 to k8.
func (w *world) takesBack() {
	l := w.engine.zero.lanes[0]
	l.mu.Lock()
	nonce := l.nonce
	l.mu.Unlock()
	now := time.Now()
	for i := range 9 {
		l.queue.undo(debt{key: fmt.Sprint("k", i), value: strings.Repeat("t", 300<<10), nonce: nonce, eternal: true, dies: now.Add(time.Minute)}, now)
	}
}

// place is where among all that a master was told so far a command stands that begins so.
func (m *fakeMaster) place(begin string) int {
	return slices.IndexFunc(m.commands(""), func(c string) bool { return strings.HasPrefix(c, begin) })
}

// The life of one such key:
//
//	1: SET k x is carried out on all masters; two answer too late, so it is NOQUORUM, and is to
//	   be put back, as are hundreds of others, of some KB each
//	2: SET k x is said again, and answered with OK
//	3: what puts k back comes behind that, and finds what it looks for
func TestAnsweredSetIsNotPutBackBehindAMegabyteOfOthers(t *testing.T) {
	notInstrumented(t)
	const keys = 600
	eachWay(t, func(w *world) {
		all := func(value string, want quorum.Decision) {
			var asked []*waiter
			for i := range keys {
				key := fmt.Sprint("k", i)
				asked = append(asked, w.put(quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"SET", key, value}}))
			}
			for _, a := range asked {
				w.want(a.wait(w.t), want)
			}
		}
		all(strings.Repeat("abcdefg", 500), quorum.Won)
		time.Sleep(500 * ms)
		w.delayed(5*ms, 2, 3)
		busy := w.put(quorum.Request{Kind: quorum.Survey, Args: []string{"DBSIZE"}})
		time.Sleep(w.masters[1].far + 2*ms) // it has arrived, and what follows goes together
		w.delayed(300*ms, 2, 3)
		all("x", quorum.Unavailable)
		w.delayed(0, 2, 3)
		busy.wait(w.t)
		all("x", quorum.Won)
		time.Sleep(time.Second)
		old := 0
		for i := range keys {
			if w.read(fmt.Sprint("k", i)).Value != "x" {
				old++
			}
		}
		if old > 0 {
			w.t.Errorf("%d of %d keys are read as before the SET that was answered", old, keys)
		}
	})
}

// The release of a lock that is given again waits for that, where much is put back first.
func TestKeyIsNotGivenAgainBehindAReleaseThatFits(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		const keys = 1000
		all := func(value string) (asked []*waiter) {
			for i := range keys {
				key := fmt.Sprint("k", i)
				asked = append(asked, w.put(quorum.Request{Kind: quorum.Write, Key: key, Args: []string{"SET", key, value}}))
			}
			return asked
		}
		w.want(w.acquire("lock", "a", time.Hour), quorum.Won)
		w.masters[1].forget("lock") // it has missed it
		for _, a := range all(strings.Repeat("abcdefg", 500)) {
			w.want(a.wait(t), quorum.Won)
		}
		time.Sleep(500 * ms)
		began := time.Now()
		w.delayed(5*ms, 2, 3)
		w.put(quorum.Request{Kind: quorum.Write, Key: "other", Args: []string{"SET", "other", "x"}})
		time.Sleep(2 * ms) // what follows goes together
		w.delayed(300*ms, 2, 3)
		all("x")
		time.Sleep(time.Until(began.Add(142 * ms)))
		extension := w.put(quorum.Request{Kind: quorum.Extend, Key: "lock", Token: "a", TTL: time.Hour})
		time.Sleep(time.Until(began.Add(200 * ms)))
		w.delayed(5*ms, 2, 3)
		w.want(extension.wait(t), quorum.Won)
		w.want(w.release("lock", "a"), quorum.Won)
		time.Sleep(3 * time.Second)
		w.wantValues("lock", "", "", "")
	})
}

func TestNothingIsCarriedOutBeforeWhatIsToBeTakenBackOnItsKey(t *testing.T) {
	for name, ask := range map[string]quorum.Request{
		"SET k8":     {Kind: quorum.Acquire, Key: "k8", Token: "t", TTL: time.Minute},
		"release k8": {Kind: quorum.Release, Key: "k8", Token: "t"},
		"FLUSHDB":    {Kind: quorum.Survey, Args: []string{"FLUSHDB"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, func(w *world) {
				var asked *waiter
				w.occupied(func() {
					w.takesBack()
					asked = w.put(ask)
				})
				asked.wait(w.t)
				time.Sleep(time.Second)
				m := w.masters[0]
				if undo, later := m.place("takeback k8 "), m.place(name); undo < 0 || later < undo {
					w.t.Errorf("the master was told to take k8 back in place %d, and %s in place %d", undo, name, later)
				}
			})
		})
	}
}

// Else a flood of what is to be taken back would keep all locks from being taken.
func TestLocksDoNotWaitForWhatIsToBeTakenBackOfOtherKeys(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		var lock *waiter
		w.occupied(func() {
			w.takesBack()
			w.put(quorum.Request{Kind: quorum.Acquire, Key: "k8", Token: "t", TTL: time.Minute})
			lock = w.put(quorum.Request{Kind: quorum.Acquire, Key: "lock", Token: "t", TTL: time.Minute})
		})
		w.want(lock.wait(t), quorum.Won)
		w.settle()
		m := w.masters[0]
		if undo, later := m.place("takeback k8 "), m.place("SET lock t"); later < 0 || later > undo {
			t.Errorf("the master was told to take k8 back in place %d, and asked for the lock in place %d", undo, later)
		}
		w.wantValues("k8", "t", "t", "t")
	})
}
