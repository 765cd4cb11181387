package engine

import (
	"fmt"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
)

func TestNothingIsCopiedWhileSourcesDisagree(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "ghost", 5*time.Second, 2)
		w.sets("k", "a", time.Minute, 3)
		w.sets("other", "b", time.Minute, 2)
		w.lose(1)
		w.votesNotWithin(1, 3*time.Second)
		w.wantValues("k", "", "ghost", "a")
		w.wantValues("other", "b", "b", "")
		w.wantState(1, quorum.CatchingUp, "")
		w.votesWithin(1, 5*time.Second) // the ghost has gone
		w.wantValues("k", "a", "", "a")
	})
}

func TestMoreDisagreementThanCanBeRememberedIsNoAgreement(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for i := range catchup.MaxDisputed + 1 {
			w.sets(fmt.Sprint("k", i), "ghost", 4*time.Second, 2)
			w.sets(fmt.Sprint("k", i), "a", time.Minute, 3)
		}
		w.lose(1)
		w.votesNotWithin(1, 2*time.Second)
		w.votesWithin(1, 4*time.Second)
		for i := range catchup.MaxDisputed + 1 {
			if v := w.masters[0].value(fmt.Sprint("k", i)); v != "a" {
				t.Fatalf("key %d is %q", i, v)
			}
		}
	})
}

// The quarantine ends all the same when no lock that the master voted for can live.
func TestDisagreementForEverEndsWithTheQuarantine(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.sets("k", "a", 0, 2)
		w.sets("k", "b", 0, 3)
		w.sets("eternal", "a", 0, 2)
		w.lose(1)
		w.votesNotWithin(1, w.cfg.MaxTTL)
		w.votesWithin(1, 10*time.Second)
		w.wantValues("k", "", "a", "b")
		w.wantValues("eternal", "a", "a", "")
	}, briefTTL)
}

// What a dump brings back is of before the loss, however long it would live: as C holds k
// now, on 1 and 2, it would be laid beside 2 and 3, and D would have k of 1 and 3.
func TestLastCatchUpBelievesASourceRatherThanADump(t *testing.T) {
	inSmallWorld(t, 3, func(w *world) {
		w.sets("k", "a", 2*time.Hour, 1)
		old := w.masters[0].copy() // A lets go of k
		w.masters[0].forget("k")
		w.sets("k", "c", time.Hour, 1, 2)
		w.masters[0].restartWith(old)
		w.noticed(1)
		w.down(3)
		time.Sleep(w.cfg.MaxTTL + 20*time.Second)
		w.wantValues("k", "c", "c", "")
		w.up(3)
		time.Sleep(5 * w.cfg.ProbeInterval)
		w.laid()
		w.wantValues("k", "c", "c", "")
		w.want(w.acquire("k", "d", time.Minute), quorum.Contended)
	})
}
