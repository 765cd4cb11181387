package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// mixed puts two installations with the same terms on the masters: small letters are
// first markers, and one that votes has "!".
func (w *world) mixed(marks string) {
	for i, s := range sightsOf(marks) {
		m := w.masters[i]
		text := marker.Marker{
			Nonce: marker.NewNonce(!s.Votes), Installation: s.Installation, Member: m.name, Terms: w.cfg.Terms(), RunID: m.runID,
		}
		if s.First {
			text.First, text.Loss = true, "step"
		}
		if s.Nonce != "" {
			m.put(quorum.MarkerKey, text.String(), 0)
		}
	}
}

func TestOfTwoInstallationsOfTheSameMastersOneStands(t *testing.T) {
	for marks, want := range map[string]string{
		"i j j":   "I",
		". j i":   "JI", // the first is marked for the one that was met first
		"i j? j":  "J",
		"i i j!":  "J",
		"i j! .":  "J",
		"i! j! .": "", // it is for the operator to tell
	} {
		inBlank(t, 3, func(w *world) {
			w.mixed(marks)
			w.launch(w.cfg)
			_, voting := allVote(w.engine)
			if voting != (want != "") {
				t.Fatalf("%s: voting %t", marks, voting)
			}
			if !voting {
				return
			}
			w.sameInstallation(1, 2, 3)
			if m, _ := marker.Parse(w.masters[0].value(quorum.MarkerKey)); !strings.Contains(want, m.Installation) {
				t.Errorf("%s: it is %s", marks, m.Installation)
			}
		})
	}
}

// Where it turns out that other masters stand than was thought, all are looked at anew. A lane that
// had an answer in its hands then was not woken, and looks before it waits; until it has, its
// master is no source for one that is of the installation which stands.
func TestMasterOfAnotherInstallationIsLookedAtBeforeItsLaneWaits(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		db := w.engine.zero
		over, end := context.WithCancel(w.t.Context())
		end()
		l := newLane(db, 0, db.lanes[0].master)
		l.keeper.era = db.engine.installation.era.Load()
		if b, err := l.queue.take(over); err == nil {
			t.Errorf("one that has looked takes %+v, and does not wait", b)
		}
		l.queue.rest()
		if b := l.sender.takeSome(); b != nil {
			t.Errorf("one that has looked, and is far, takes %+v", b)
		}
		l.queue.rest()
		l.keeper.era++
		if _, err := l.queue.take(over); err != nil {
			t.Errorf("one that is to look waits: %v", err)
		}
		if l.sender.takeSome() == nil {
			t.Error("one that is to look, and is far, waits")
		}

		if n := len(db.sources(db.lanes[0])); n != 2 {
			t.Errorf("%d masters are sources, want 2", n)
		}
		db.lanes[1].mu.Lock()
		db.lanes[1].sight.Installation = "another"
		db.lanes[1].mu.Unlock()
		if n := len(db.sources(db.lanes[0])); n != 1 {
			t.Errorf("%d masters are sources, want the one of our installation", n)
		}
	})
}

// Proxies whose sets share masters, and differ: at most one of them grants anything,
// at any time.
func TestSetsThatShareMastersNeverBothGrant(t *testing.T) {
	notInstrumented(t)
	for name, sets := range map[string][2][]int{
		"one shared":        {{1, 2, 3}, {3, 4, 5}},
		"two shared":        {{1, 2, 3}, {2, 3, 4}},
		"the first shared":  {{1, 2, 3}, {1, 4, 5}},
		"within another":    {{1, 2, 3}, {1, 2, 3, 4, 5}},
		"the others within": {{3, 4, 5}, {1, 2, 3, 4, 5}},
	} {
		for _, delay := range []time.Duration{0, 5 * ms, 500 * ms, 5 * time.Second, 30 * time.Second} {
			for _, apart := range []bool{false, true} {
				inBlank(t, 5, func(w *world) {
					w.withOneDatabase()
					a, b := w.some(sets[0]...), w.some(sets[1]...)
					if apart { // each is cut off from what they share, when it is the other's
						w.masters[2].set(func(m *fakeMaster) { m.lag = 30 * ms })
					}
					one := New(a, w.log)
					time.Sleep(delay)
					two := New(b, w.log)
					w.engines = append(w.engines, one, two)
					for i := range 40 {
						granted := 0
						for j, e := range w.engines {
							w.engine = e
							if w.acquire("k"+string(rune('A'+i)), string(rune('a'+j)), time.Second).Decision == quorum.Won {
								granted++
							}
						}
						if granted > 1 {
							t.Fatalf("%s after %v: both granted", name, delay)
						}
						time.Sleep(w.cfg.MaxTTL / 12)
					}
					if !one.Ready() && !two.Ready() {
						t.Errorf("%s after %v: neither has votes", name, delay)
					}
				})
			}
		}
	}
}

func TestProxyThatMeetsOtherTermsGrantsNothingUntilRestarted(t *testing.T) {
	inBlank(t, 5, func(w *world) {
		w.cfg.Masters = w.cfg.Masters[:3]
		w.engine = w.start(w.cfg)
		w.want(w.acquire("k", "a", time.Second), quorum.Won)
		other := w.some(3, 4, 5)
		w.masters[2].set(forgetAll)
		w.masters[2].mark(marker.Marker{Installation: "other", Member: "m3", Terms: other.Terms(), RunID: "m3-0"})
		time.Sleep(3 * time.Second)
		w.want(w.acquire("k2", "a", time.Second), quorum.Unavailable)
		for i := range 2 {
			w.wantState(i+1, quorum.Quarantined, "its set has m4 m5, which the masters here have not")
		}
		w.masters[2].set(forgetAll)
		time.Sleep(3 * w.cfg.MaxTTL)
		w.want(w.acquire("k2", "a", time.Second), quorum.Unavailable)
		w.launch(w.cfg)
		w.wantVotes(w.engine, 0)
	})
}

// A master that was refused for its terms is not dialled in a storm.
func TestMasterOfOtherTermsIsSeldomDialled(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.start(w.cfg)
		other := w.cfg
		other.MaxTTL *= 2
		w.launch(other)
		before := w.masters[0].dialled()
		time.Sleep(time.Minute)
		if n := w.masters[0].dialled() - before; n > 12 { // of which three are looks for what never ends
			t.Errorf("it was dialled %d times in a minute", n)
		}
	})
}

func (m *fakeMaster) dialled() (n int) {
	m.locked(func() { n = m.dials })
	return n
}

// Who has marked some masters and finds that the rest are another's takes his marks
// back.
func TestFirstMarksAreTakenBackFromASetThatCannotBe(t *testing.T) {
	inBlank(t, 4, func(w *world) {
		other := w.some(2, 3, 4)
		once(w.masters[1], "EVAL "+master.FirstScript.Text, func(m *fakeMaster) {
			m.keys[quorum.MarkerKey] = fakeKey{value: marker.Marker{
				Nonce: marker.NewNonce(true), Installation: "other", Member: m.name, Terms: other.Terms(), RunID: m.runID,
			}.String()}
		})
		w.launch(w.some(1, 2, 3))
		time.Sleep(3 * time.Second)
		for db := range 3 {
			if text := w.masters[0].markerIn(db); text != "" {
				t.Errorf("database %d: %s", db, text)
			}
		}
	})
}
