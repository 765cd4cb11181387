package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/master"
)

// A key without a marker is somebody's: such a master is not new.
func TestMastersThatHoldKeysAreNotMarked(t *testing.T) {
	for _, db := range []int{0, 7} {
		inBlank(t, 3, func(w *world) {
			w.masters[0].locked(func() { w.masters[0].in(db, func() { w.masters[0].keys["x"] = fakeKey{value: "y"} }) })
			w.launch(w.cfg)
			time.Sleep(3 * w.cfg.MaxTTL)
			w.wantState(1, quorum.Quarantined, "it has no marker and holds keys in database")
			if w.marked() {
				t.Error("a master was marked")
			}
			why := w.acquire("k", "a", time.Second).Why
			if want := fmt.Sprintf("it has no marker and holds keys in database %d, so that it is no new master", db); !strings.Contains(why, want) {
				t.Errorf("it is told %q, which says nothing of what is to be done", why)
			}
			w.masters[0].set(forgetAll)
			w.wantVotes(w.engine, w.cfg.FirstTime())
		})
	}
}

// What one finds on its turn, after others were marked, does not become one of the set
// by a proxy.
func TestMastersThatHoldKeysWaitForBootstrap(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.masters[2].put("x", "y", 0)
		w.launch(w.cfg)
		time.Sleep(3 * w.cfg.MaxTTL)
		w.wantState(3, quorum.Quarantined, "it has no marker and holds keys in database 0")
		w.wantState(1, quorum.Quarantined, "")
		w.want(w.acquire("k", "a", time.Second), quorum.Unavailable)
	})
}

func TestFirstStartCanBeLeftToBootstrap(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.cfg.FirstStart = false
		w.launch(w.cfg)
		time.Sleep(3 * w.cfg.MaxTTL)
		w.wantState(1, quorum.Quarantined, "run redlock-proxy bootstrap")
		if left := w.state(1).Left; left != 0 {
			t.Errorf("left are %v, and nothing is waited for", left)
		}
		if w.marked() {
			t.Error("a master was marked")
		}
	})
}

// A machine that is gone for good keeps a set from its first start, and who waits for it
// is told.
func TestFirstStartWaitsForEveryMaster(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.masters[2].cut()
		w.launch(w.cfg)
		time.Sleep(3 * w.cfg.MaxTTL)
		for _, number := range []int{1, 2} {
			w.wantState(number, quorum.Quarantined, "it has no marker, and is given one when m3 can be reached")
			if left := w.state(number).Left; left != 0 {
				t.Errorf("left are %v, and m3 is away", left)
			}
		}
		if why := w.acquire("k", "a", time.Second).Why; !strings.HasSuffix(why, "bootstrap --no-locks-held, when all can be reached") {
			t.Errorf("it is told %q", why)
		}
		w.masters[2].rejoin()
		w.wantVotes(w.engine, w.cfg.FirstTime())
	})
	inBlank(t, 3, func(w *world) { // it goes when two are marked
		once(w.masters[2], "EVAL "+master.FirstScript.Text, func(m *fakeMaster) { m.refuse, m.conns = true, map[int64]*socket{} })
		w.launch(w.cfg)
		time.Sleep(3 * w.cfg.MaxTTL)
		if s := w.state(1); s.State != quorum.Quarantined || !strings.Contains(s.Reason, "while no master could vote") {
			t.Errorf("%+v", s)
		}
		w.masters[2].rejoin()
		w.wantVotes(w.engine, w.cfg.FirstTime())
	})
}

// What is lost while another master is in its own quarantine is no first start: that one
// is back before.
func TestQuarantineOfOneMasterIsNoFirstStart(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.engine = w.start(w.cfg)
		w.masters[1].cut()
		w.masters[0].restartBlank() // and too few can tell what it held
		time.Sleep(w.cfg.MaxTTL / 4)
		w.masters[2].cut()
		time.Sleep(w.cfg.MaxTTL / 4)
		w.masters[1].restartBlank()
		w.masters[2].restartBlank()
		for range 8 {
			if why := w.acquire("k", "a", time.Second).Why; strings.Contains(why, "a new set") || !strings.Contains(why, "left)") {
				t.Errorf("it is told %q", why)
			}
			time.Sleep(w.cfg.ProbeInterval / 2)
		}
		if _, voting := allVote(w.engine); !voting {
			t.Error("they never vote again")
		}
	})
}

// Locks that a proxy grants before it looks at a master that is another set's by now have
// ended when that set votes.
func TestFirstStartWaitsUntilEveryProxyHasLooked(t *testing.T) {
	notInstrumented(t)
	late := 0
	for round := 0; round < 5 && late == 0; round++ {
		for delay := time.Duration(0); delay < 1200*ms; delay += 50 * ms {
			inBlank(t, 5, func(w *world) {
				old := w.launch(w.some(1, 2, 3))
				w.wantVotes(old, w.cfg.FirstTime())
				time.Sleep(time.Duration(round) * 100 * ms) // so that it is not always about to look
				w.masters[2].locked(w.masters[2].flushAll)
				next := New(w.some(3, 4, 5), w.log)
				w.engines = append(w.engines, next)
				for f := next.zero.firstStart(); !f.begun || len(f.waits) > 0; f = next.zero.firstStart() {
					if next.installation.barring() != nil {
						return // the old proxy has looked before the other could begin
					}
					time.Sleep(50 * ms)
				}
				w.engine = old
				time.Sleep(delay)
				began := time.Now()
				if w.acquire("k", "a", w.cfg.MaxTTL).Decision != quorum.Won {
					return // it has looked
				}
				late++
				w.engine = next
				for w.acquire("k", "b", time.Second).Decision != quorum.Won {
					time.Sleep(10 * ms)
				}
				if held := time.Since(began); held < w.cfg.MaxTTL {
					t.Errorf("after %v: A holds k for another %v, and B has it", delay, w.cfg.MaxTTL-held)
				}
			})
		}
	}
	if late == 0 {
		t.Error("the old proxy never granted anything")
	}
}

// A proxy is restarted again and again in a first start: what is marked stays, and the
// time that has passed counts.
func TestFirstStartGoesOnWithAnotherProxy(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		for i := range 8 {
			w.engine = New(w.cfg, w.log)
			w.engines = append(w.engines, w.engine)
			time.Sleep(time.Duration(i) * 3 * ms)
			w.stop(w.engine)
		}
		w.launch(w.cfg)
		time.Sleep(w.cfg.MaxTTL / 2)
		w.stop(w.engine)
		w.launch(w.cfg)
		if took, voting := allVote(w.engine); !voting || took > w.cfg.FirstTime()-w.cfg.MaxTTL/2+3*time.Second {
			t.Errorf("voting %t after %v", voting, took)
		}
		w.sameInstallation(1, 2, 3)
	})
}
