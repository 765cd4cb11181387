package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
)

// What each of three masters makes of a release: it deletes (d), it has
// nothing (n), it holds another value (o), or nobody knows (u).
func TestReleaseSaysYesOnlyIfAQuorumMayHaveDeleted(t *testing.T) {
	for masters, want := range map[string]quorum.Decision{
		"ddd": quorum.Won, "ddn": quorum.Won, "ddu": quorum.Won, "ddo": quorum.Won,
		"duu": quorum.Won, "dun": quorum.Won, "duo": quorum.Won,
		"dnn": quorum.Contended, "doo": quorum.Contended, "dno": quorum.Contended,
		"nnn": quorum.Contended, "nnu": quorum.Contended, "ono": quorum.Contended, "ouo": quorum.Contended,
		"nuu": quorum.Unavailable, "ouu": quorum.Unavailable, "uuu": quorum.Unavailable,
	} {
		for _, kind := range []quorum.Kind{quorum.Release, quorum.Remove} {
			if kind == quorum.Remove && strings.Contains(masters, "o") {
				continue // it deletes whatever is there
			}
			inWorld(t, 3, func(w *world) {
				for i, m := range w.masters {
					switch masters[i] {
					case 'd':
						m.put("k", "t", time.Minute)
					case 'o':
						m.put("k", "x", time.Minute)
					case 'u':
						m.set(func(m *fakeMaster) { m.delay = 300 * ms })
					}
				}
				r := w.ask(quorum.Request{Kind: kind, Key: "k", Token: "t"})
				if r.Decision != want {
					t.Errorf("%v with %s: %v, want %v", kind, masters, r.Decision, want)
				}
				if absent := strings.Count(masters, "n") > strings.Count(masters, "o"); kind == quorum.Release && want == quorum.Contended && r.Absent != absent {
					t.Errorf("%v with %s: absent is %v", kind, masters, r.Absent)
				}
			})
		}
	}
}

func TestReleaseIsCarriedOutByAMasterThatIsLate(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		w.masters[2].set(func(m *fakeMaster) { m.lag = 400 * ms })
		w.want(w.release("k", "t"), quorum.Won)
		time.Sleep(time.Second)
		w.wantValues("k", "", "", "")
	})
}

// absentMaster has a lock taken, its third master lost, and the lock given up
// in the meantime; then the master returns as it was, changed by f.
func absentMaster(t *testing.T, give quorum.Request, f func(m *fakeMaster)) (log []string, value string) {
	t.Helper()
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 30*time.Second), quorum.Won)
		w.settle()
		w.down(3)
		w.want(w.ask(give), quorum.Won)
		if s := w.engine.Status().Masters[2]; s.Debts != 1 || s.State != quorum.Down {
			t.Errorf("%+v", s)
		}
		w.wantValues("k", "", "", "t")
		w.masters[2].set(func(m *fakeMaster) { m.log = nil })
		f(w.masters[2])
		// It returns while clients are asking for the key.
		w.masters[2].rejoin()
		for i := range 500 {
			w.ask(quorum.Request{Kind: quorum.Acquire, Key: "k", Token: fmt.Sprint("new", i), TTL: 2 * time.Second})
			time.Sleep(ms)
		}
		log, value = w.masters[2].commands(""), w.masters[2].value("k")
		if s := w.engine.Status().Masters[2]; s.Debts != 0 || s.State != quorum.Voting {
			t.Errorf("%+v", s)
		}
	})
	return log, value
}

var giveUps = []quorum.Request{{Kind: quorum.Release, Key: "k", Token: "t"}, {Kind: quorum.Remove, Key: "k"}}

func TestReleaseOwedIsPaidBeforeAnythingNewer(t *testing.T) {
	for _, give := range giveUps {
		log, value := absentMaster(t, give, func(m *fakeMaster) {})
		if len(log) < 3 || !strings.HasPrefix(log[0], "CLIENT KILL") || !strings.HasPrefix(log[1], "takeback k t") || !strings.HasPrefix(log[2], "SET k new") {
			t.Errorf("%v: on its return the master was told %.3q", give.Kind, log)
		}
		if value == "t" {
			t.Errorf("%v: the lock is still there", give.Kind)
		}
	}
}

// Somebody else's lock, under the same token: it lives longer than the one
// that is owed.
func TestReleaseOwedLeavesALockThatLivesLonger(t *testing.T) {
	for _, give := range giveUps {
		_, value := absentMaster(t, give, func(m *fakeMaster) { m.put("k", "t", 40*time.Second) })
		if value != "t" {
			t.Errorf("%v: %q is left of a lock that lives longer", give.Kind, value)
		}
		_, value = absentMaster(t, give, func(m *fakeMaster) { m.put("k", "t", 0) })
		if value != "t" {
			t.Errorf("%v: %q is left of a lock without expiry", give.Kind, value)
		}
		_, value = absentMaster(t, give, func(m *fakeMaster) { m.put("k", "x", time.Second) })
		if value == "t" || value == "" {
			t.Errorf("%v: %q is left of another's lock", give.Kind, value)
		}
	}
}

func TestReleaseOwedIsForgottenWithItsLock(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", 5*time.Second), quorum.Won)
		w.settle()
		w.down(3)
		w.want(w.release("k", "t"), quorum.Won)
		time.Sleep(7 * time.Second)
		if s := w.engine.Status(); s.Masters[2].Debts != 0 || s.Masters[2].DebtBytes != 0 || s.DebtsDropped != 1 {
			t.Errorf("%+v", s)
		}
		w.up(3)
		if got := w.masters[2].commands("takeback"); len(got) != 0 {
			t.Errorf("on its return the master was told %q", got)
		}
	})
}

// The lock has no expiry; the debt lasts until it can be paid.
func TestReleaseOfALockWithoutExpiryIsOwedForEver(t *testing.T) {
	for _, give := range giveUps {
		inWorld(t, 3, func(w *world) {
			w.want(w.acquire("k", "t", 0), quorum.Won)
			w.settle()
			w.down(3)
			w.want(w.ask(give), quorum.Won)
			time.Sleep(2 * time.Minute)
			w.up(3)
			w.wantValues("k", "", "", "")
		})
	}
}

// A master that was lost while it held one lock of a key, of which there have
// been others since, gives up the one that it holds.
func TestReleaseIsOwedThoughTheKeyWasLockedSince(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t0", time.Minute), quorum.Won)
		w.settle()
		w.down(3)
		w.want(w.release("k", "t0"), quorum.Won)
		for i := 1; i < 4; i++ {
			w.want(w.acquire("k", fmt.Sprint("t", i), time.Minute), quorum.Won)
			w.want(w.release("k", fmt.Sprint("t", i)), quorum.Won)
		}
		w.up(3)
		w.wantValues("k", "", "", "")
	})
}

// Two masters are gone when the lock is released, and it is not known whether
// it was held; a third that says so later makes it known.
func TestReleaseIsOwedOnceALateMasterTellsOfTheLock(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.acquire("k", "t", time.Minute), quorum.Won)
		w.settle()
		w.down(3)
		w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = 300 * ms }) }, 1, 2)
		w.want(w.release("k", "t"), quorum.Unavailable)
		time.Sleep(time.Second)
		w.up(3)
		synctest.Wait()
		w.wantValues("k", "", "", "")
	})
}
