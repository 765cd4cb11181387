package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
)

// freed waits until masters that are connected to anew are freed of what never ends.
func (w *world) freed() { time.Sleep(w.cfg.QuarantineTime()*3/2 + w.cfg.Apart()) }

// A lock without a ttl is released while a master is away for longer than what is owed to
// it lives, or while its proxy ends before it is back.
func TestWhatIsLeftOfALockWithoutTTLGoes(t *testing.T) {
	for name, away := range map[string]func(w *world){
		"away for longer than max-ttl": func(w *world) { time.Sleep(w.cfg.MaxTTL + 10*time.Second) },
		"its proxy is started anew": func(w *world) {
			w.stop(w.engine)
			w.masters[2].rejoin()
			w.engine = w.start(w.cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "a", 0), quorum.Won)
				w.want(w.acquire("held", "a", 0), quorum.Won)
				w.settle()
				w.down(3)
				w.want(w.release("k", "a"), quorum.Won)
				away(w)
				w.up(3)
				w.sets("other", "b", 0, 1, 2)
				w.sets("other", "a", 0, 3)
				w.freed()
				w.wantValues("k", "", "", "")
				w.wantValues("other", "b", "b", "")
				w.wantValues("held", "a", "a", "a")
				w.down(1)
				w.want(w.acquire("k", "b", time.Second), quorum.Won)
				time.Sleep(2 * time.Second)
				w.up(1)
				w.masters[1].restartBlank()
				w.noticed(2)
				w.votesWithin(2, 3*time.Second)
				w.want(w.acquire("k", "c", time.Second), quorum.Won)
			})
		})
	}
}

// Whichever master is away, and for how long: a quorum holds it.
func TestLockWithoutTTLThatAQuorumHoldsIsNoGhost(t *testing.T) {
	notInstrumented(t)
	for _, n := range []int{3, 5} {
		inSmallWorld(t, n, func(w *world) {
			needed := quorum.QuorumOf(n)
			for i := needed + 1; i <= n; i++ {
				w.down(i)
			}
			w.want(w.acquire("k", "a", 0), quorum.Won)
			w.settle()
			for i := needed + 1; i <= n; i++ {
				w.up(i)
			}
			for away := 1; away <= n; away++ {
				w.down(away)
				w.freed()
				w.up(away)
				w.freed()
				w.stop(w.engine)
				w.engine = w.start(w.cfg)
				w.down(away)
				w.freed()
				w.up(away)
				for i, m := range w.masters {
					if got, held := m.value("k") == "a", i < needed; got != held {
						t.Fatalf("when m%d was away: m%d holds %q", away, i+1, m.value("k"))
					}
				}
			}
			w.want(w.acquire("k", "b", time.Second), quorum.Contended)
			w.want(w.release("k", "a"), quorum.Won)
		})
	}
}

// Were what each master holds another's ghost, nothing of it would be left. A count would
// begin anew.
func TestValuesInWhichAllMastersDifferStay(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for i, value := range []string{"5", "6", "7"} {
			w.sets("n", value, 0, i+1)
		}
		w.freed()
		w.freed()
		w.wantValues("n", "5", "6", "7")
	})
}

// Put while a proxy of the master's is there, and undone before the link has lasted as
// long as anything is owed.
func TestWhatIsOwedIsNoGhostBeforeItIsPaid(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "a", 0, 1) // a lost step has removed it from 2, which is owed that
		time.Sleep(w.cfg.MaxTTL - time.Second)
		w.sets("k", "a", 0, 2)
		w.freed()
		w.wantValues("k", "a", "a", "")
	})
}
