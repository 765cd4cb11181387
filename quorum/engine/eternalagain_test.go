package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// freedAgain waits until a master is freed of what was left without a ttl while it was
// connected.
func (w *world) freedAgain() { time.Sleep(w.cfg.QuarantineTime()*3 + w.cfg.Apart()) }

// A master misses the release of a lock without a ttl, and its link goes on.
func TestWhatIsLeftWithoutTTLOnALinkThatLastsGoes(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		time.Sleep(2 * w.cfg.MaxTTL)
		w.want(w.acquire("held", "a", 0), quorum.Won)
		w.settle()
		w.sets("k", "a", 0, 3) // as if it had been late with the unlock by a script
		w.freedAgain()
		w.wantValues("k", "", "", "")
		w.wantValues("held", "a", "a", "a")
		if s := w.state(3); s.Reconnects != 0 {
			t.Errorf("%d reconnects", s.Reconnects)
		}
		w.down(1)
		w.want(w.acquire("k", "b", time.Minute), quorum.Won)
	})
}

// A lost step has removed a lock from 2, which is owed it for as long as debts live.
func TestWhatIsOwedOnALinkThatLastsIsNoGhost(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		time.Sleep(2 * w.cfg.MaxTTL)
		w.sets("k", "a", 0, 1)
		time.Sleep(w.cfg.QuarantineTime() - ms)
		w.sets("k", "a", 0, 2)
		w.freedAgain()
		w.wantValues("k", "a", "a", "")
	})
}

// Another proxy takes a lock without a ttl, and lets go of it, all the time.
func TestLockWithoutTTLThatIsTakenAgainAndAgainIsNoGhost(t *testing.T) {
	notInstrumented(t)
	inWorld(t, 3, func(w *world) {
		w.start(w.cfg)
		other := w.engines[1]
		for began := time.Now(); time.Since(began) < 4*w.cfg.QuarantineTime(); {
			a := newWaiter()
			other.Put(&quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "1"}, a)
			w.want(<-a.answers, quorum.Won)
			time.Sleep(7 * time.Second)
			b := newWaiter()
			other.Put(&quorum.Request{Kind: quorum.Release, Key: "k", Token: "1"}, b)
			w.want(<-b.answers, quorum.Won)
		}
		if s := w.engine.Status(); s.Undos != 0 {
			t.Errorf("%d were taken back", s.Undos)
		}
	})
}
