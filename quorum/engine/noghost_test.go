package engine

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
)

// What N-quorum+1 others hold nothing of, but an acquire may win by.
func TestWhatIsBeingAcquiredIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.betweenLooks(func(m *fakeMaster) {
			// P's acquire of k is granted by 1 before the first look, and by 2 when P gives up.
			m.keys["k"] = fakeKey{value: "a", until: m.now() + int64(time.Minute)}
		}, w.cfg.AcquireTimeout)
		w.wantValues("k", "a", "a", "")
	})
}

// A step that is lost has removed what it puts back when it is decided, and that is carried
// out: which takes as long again.
func TestWhatALostStepHasRemovedIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "a", time.Minute, 1, 2)
		w.betweenLooks(func(*fakeMaster) { w.masters[1].forget("k") }, 2*w.cfg.AcquireTimeout)
		w.wantValues("k", "a", "a", "")
	})
}

// betweenLooks has master 1 forget and be back, and begin called, under its lock, before the
// first look at what it holds. Some time later master 2 holds k.
func (w *world) betweenLooks(begin func(*fakeMaster), long time.Duration) {
	w.t.Helper()
	w.want(w.acquire("other", "x", time.Minute), quorum.Won)
	w.lose(1)
	w.votesWithin(1, 3*time.Second)
	looked := make(chan struct{})
	w.whenever(1, scans, func(m *fakeMaster, _ []string) {
		m.respond = nil
		begin(m)
		close(looked)
	})
	select {
	case <-looked:
	case <-time.After(time.Minute):
		w.t.Fatal("nobody looks at what the master holds")
	}
	time.Sleep(long)
	w.sets("k", "a", time.Minute, 2)
	w.laid()
}

// Its expiry tells a lock that was extended from the one that was seen.
func TestWhatIsExtendedBetweenTheLooksIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		w.sets("k", "a", time.Minute, 1)
		w.at(1, catchup.LayScript, func(m *fakeMaster, args []string) {
			m.expire("k", m.keys["k"], "90000")
		})
		w.laid()
		w.wantValues("k", "a", "", "")
	})
}

// How often a hash was entered is part of its value. Master 1 holds it with another count
// than 3, 2 has let go of it, and still 1 and 3 are a quorum that refuses everybody else.
func TestLockOfWhichMastersHoldAnotherCountIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("other", "x", time.Minute), quorum.Won)
		w.lose(1)
		w.votesWithin(1, 3*time.Second)
		hold := func(i int, value string) {
			w.masters[i-1].set(func(m *fakeMaster) {
				m.keys["k"] = fakeKey{value: value, until: m.now() + int64(time.Minute), hash: true}
			})
		}
		hold(1, "a=2")
		hold(3, "a=1")
		w.laid()
		w.wantValues("k", "a=2", "", "a=1")
		// Where a quorum holds it alike, what the third holds is nobody's.
		hold(2, "a=1")
		time.Sleep(4 * w.cfg.ProbeInterval)
		w.laid()
		w.wantValues("k", "", "a=1", "a=1")
	})
}

// 1 and 2 hold a hash, which may be the same lock, entered more often by what 2 holds; 3 was
// away. What 2 holds may be too long to be read.
func TestWhatASourceCannotReadIsNotTakenForNothing(t *testing.T) {
	for name, n := range map[string]int{"short": 10, "too long": 17 << 20} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.masters[0].set(func(m *fakeMaster) {
					m.keys["k"] = fakeKey{value: "a", hash: true, until: m.now() + int64(time.Hour)}
				})
				w.masters[1].set(func(m *fakeMaster) {
					m.keys["k"] = fakeKey{value: strings.Repeat("b", n), hash: true, until: m.now() + int64(time.Hour)}
				})
				w.masters[0].forget("redlock-proxy:{marker}")
				w.noticed(1)
				w.votesWithin(1, 2*w.cfg.MaxTTL)
				w.laid()
				w.laid()
				if v := w.masters[0].value("k"); v == "" { // the short one is given 2's
					t.Error("it is deleted on 1 though 2 holds one")
				}
			})
		})
	}
}
