package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
)

// Another proxy has granted k in database 5, on masters 1 and 2; nobody has looked at the
// clock of 1 since it was set. The first who asks for k here opens that database.
func TestDatabaseThatIsOpenedAfterAJumpDoesNotVoteOnFromBefore(t *testing.T) {
	for name, lost := range map[string]string{"the first loss": "", "after an earlier loss": "before"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 3)
				w.bootstrap(w.cfg)
				for _, m := range w.masters {
					m.told(lost)
				}
				other := w.start(w.cfg)
				w.engine = other
				w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "a", TTL: time.Minute}), quorum.Won)
				w.masters[2].locked(func() { w.masters[2].in(5, func() { delete(w.masters[2].keys, "k") }) })
				w.engine = w.start(w.cfg)
				w.stop(other)
				time.Sleep(3 * w.cfg.ProbeInterval)
				w.want(w.acquire("other", "x", time.Minute), quorum.Won)
				before := w.noncesOf(1)
				w.masters[0].set(func(m *fakeMaster) { m.jumped = time.Hour })
				if r := w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "k", Token: "b", TTL: time.Minute}); r.Decision == quorum.Won {
					t.Errorf("a second holder: %+v", r)
				}
				time.Sleep(w.cfg.AcquireTimeout)
				for db, n := range w.noncesOf(1) {
					if n == before[db] {
						t.Errorf("database %d was told of nothing", db)
					}
				}
			})
		})
	}
}

// told has each marker of a master name the last loss that was told there.
func (m *fakeMaster) told(loss string) {
	for db := range m.databases() {
		m.locked(func() {
			m.in(db, func() {
				k, _ := marker.Parse(m.marker())
				k.Loss = loss
				m.keys[quorum.MarkerKey] = fakeKey{value: k.String()}
			})
		})
	}
}

// Database 5 has seen the clock of master 1 an hour ahead; it was set back, and that
// database cannot be reached, when database 0 is asked next.
func TestJumpSeenInOneDatabaseCountsInAllAtOnce(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.asked(5, quorum.Request{Kind: quorum.Acquire, Key: "other", Token: "x", TTL: time.Minute}), quorum.Won)
		w.want(w.acquire("k", "a", time.Minute), quorum.Won)
		w.masters[2].forget("k")
		m := w.masters[0]
		m.set(func(m *fakeMaster) { m.jumped = time.Hour })
		w.wantValues("k", "", "a", "")
		w.put(quorum.Request{Kind: quorum.Read, DB: 5, Key: "other"})
		synctest.Wait()
		m.cut()
		m.set(func(m *fakeMaster) { m.jumped = 0 })
		answering(m, "SELECT", "-ERR not now\r\n")
		m.mend()
		for range 20 {
			if r := w.acquire("k", "b", time.Minute); r.Decision == quorum.Won {
				t.Fatalf("a second holder: %+v", r)
			}
			time.Sleep(50 * ms)
		}
		if w.engine.Status().Quarantines == 0 {
			t.Error("nobody was told of the jump")
		}
		m.set(func(m *fakeMaster) { m.respond = nil })
		time.Sleep(5 * w.cfg.ProbeInterval)
		w.wantState(1, quorum.Voting, "")
	})
}
