package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
	"redlock-proxy/quorum/members"
)

// cutAtVote has a bootstrap be cut off when it lets a master vote, and gives its error.
func (w *world) cutAtVote(number int) error {
	w.t.Helper()
	m := w.masters[number-1]
	m.set(func(m *fakeMaster) {
		m.after = func(args []string, m *fakeMaster) {
			if args[0] == "EVAL" && args[1] == master.MarkScript.Text && !marker.NonceOf(args[5]).Provisional() {
				for _, conn := range m.conns {
					conn.Close()
				}
				clear(m.conns)
			}
		}
	})
	err := bootstrap(w.t.Context(), w.cfg, sworn)
	m.set(func(m *fakeMaster) { m.after = nil })
	if err == nil {
		w.t.Fatal("it was not cut off")
	}
	return err
}

// What was done is told, and the same order does the rest at once.
func TestBootstrapThatIsCutOffTellsWhatItHasDone(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.cfg.FirstStart = false
		err := w.cutAtVote(2)
		if want := "these may vote: m1; these are marked, and may not vote yet: m3; of these it is not known what was written: m2. The same order goes on from there"; !strings.HasSuffix(err.Error(), want) {
			t.Errorf("it says %q, want %q", err, want)
		}
		told := ""
		how := members.Bootstrapping{Tell: func(text string) { told = text }}
		w.boots(how)
		if !strings.Contains(told, "these may vote, too, after the same order with that word: m2 m3") {
			t.Errorf("without the word it is told %q", told)
		}
		how.NoLocksHeld = true
		w.boots(how)
		if !strings.Contains(told, "these may, too, now: m2 m3") {
			t.Errorf("it is told %q", told)
		}
		w.launch(w.cfg)
		w.wantVotes(w.engine, 0)
		w.boots(how)
		if !strings.Contains(told, "nothing is done") {
			t.Errorf("once more it is told %q", told)
		}
	})
}

// The word that no locks are held was given before the masters voted. What one of them may
// have lost since is not given up by it.
func TestBootstrapThatIsCutOffLetsNobodyVoteLaterWhoHas(t *testing.T) {
	for name, harm := range map[string]func(m *fakeMaster, sworn fakeData){
		"it is blank":                func(m *fakeMaster, _ fakeData) { m.restartBlank() },
		"it has a dump of the order": func(m *fakeMaster, sworn fakeData) { m.restartWith(sworn) },
		"it was flushed":             func(m *fakeMaster, _ fakeData) { m.set(forgetAll) },
	} {
		t.Run(name, func(t *testing.T) {
			inBlank(t, 3, func(w *world) {
				w.cutAtVote(2)
				m := w.masters[2]
				dump := m.copy()
				w.launch(w.cfg)
				w.wantVotes(w.engine, 0) // 3 is given what 1 and 2 hold
				w.down(1)
				w.want(w.acquire("k", "a", 9*time.Second), quorum.Won) // on 2 and 3
				w.settle()
				w.stop(w.engine)
				w.masters[0].rejoin()
				harm(m, dump)
				w.boots(sworn)
				w.launch(w.cfg)
				w.masters[1].cut()
				if r := w.acquire("k", "b", time.Second); r.Decision == quorum.Won {
					t.Error("a second holder")
				}
			})
		})
	}
}

// Two operators make sets of one master and others, at once. Who loses leaves nothing that
// would keep him from making another one.
func TestBootstrapThatLosesTakesBackWhatItHasMarked(t *testing.T) {
	inBlank(t, 6, func(w *world) {
		ours, theirs := w.some(1, 2, 5), w.some(3, 4, 5)
		w.masters[1].set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if args[0] == "EVAL" && args[1] == master.LossScript.Text {
					first := marker.Marker{Nonce: marker.NewNonce(true), Installation: "theirs", Member: "m5", Terms: theirs.Terms(), RunID: "m5-0", First: true}
					w.masters[4].put(quorum.MarkerKey, first.String(), 0)
				}
			}
		})
		err := bootstrap(w.t.Context(), ours, sworn)
		if !errors.Is(err, quorum.ErrOtherTerms) || !strings.HasSuffix(err.Error(), "if nobody makes or uses that, delete its key redlock-proxy:{marker} in each database\nno master is marked by this order") {
			t.Errorf("it says %v", err)
		}
		for _, i := range []int{1, 2} {
			for db := range quorum.Databases {
				if text := w.masters[i-1].markerIn(db); text != "" {
					t.Fatalf("m%d keeps %s in database %d", i, text, db)
				}
			}
		}
		w.cfg = w.some(1, 2, 6)
		w.boots(sworn)
		w.launch(w.cfg)
		w.wantVotes(w.engine, 0)
	})
}

// A bootstrap is cut off after any of its writes and ordered again, before or after
// proxies have met what it left.
func TestBootstrapThatIsCutOffCanBeOrderedAgain(t *testing.T) {
	notInstrumented(t)
	for _, proxies := range []bool{false, true} {
		wasCut := true
		for cut := 1; wasCut; cut++ {
			inBlank(t, 3, func(w *world) {
				wasCut = w.cutBootstrap(cut)
				if proxies {
					w.launch(w.cfg)
					time.Sleep(time.Duration(cut) * 300 * ms)
				}
				w.boots(sworn)
				if !proxies {
					w.launch(w.cfg)
				}
				if took, voting := allVote(w.engine); !voting || took > w.cfg.ProbeInterval {
					t.Errorf("cut off after %d, proxies %t: they vote %t after %v", cut, proxies, voting, took)
				}
				w.sameInstallation(1, 2, 3)
				for db := range quorum.Databases {
					m, err := marker.Parse(w.masters[cut%3].markerIn(db))
					if err != nil || m.DB != db {
						t.Errorf("database %d: %v, %v", db, m, err)
					}
				}
			})
		}
	}
}

// cutBootstrap has a bootstrap end after so many writes of markers, and tells whether
// there were so many.
func (w *world) cutBootstrap(after int) (was bool) {
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	writes := 0
	for _, m := range w.masters {
		m.set(func(m *fakeMaster) {
			m.after = func(args []string, m *fakeMaster) {
				if args[0] != "EVAL" || args[1] != master.MarkScript.Text && args[1] != master.LossScript.Text {
					return
				}
				if writes++; writes == after {
					was = true
					stop()
					for _, conn := range m.conns {
						conn.Close()
					}
					clear(m.conns)
				}
			}
		})
	}
	err := bootstrap(ctx, w.cfg, sworn)
	for _, m := range w.masters {
		m.set(func(m *fakeMaster) { m.after = nil })
	}
	if (err == nil) == was {
		w.t.Errorf("cut off %t: %v", was, err)
	}
	return was
}
