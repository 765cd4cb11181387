package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/marker"
	"redlock-proxy/quorum/master"
)

// sightsOf reads what is seen of masters: "-" is one that is away, "." one without a
// marker; else the installation's letter: small if it is a first marker, with "?" if it
// is provisional otherwise, with "!" if it votes.
func sightsOf(text string) (sights []marker.Sight) {
	for _, word := range strings.Fields(text) {
		s := marker.Sight{Reached: word != "-"}
		if s.Reached && word != "." {
			s.Nonce = marker.Nonce("of " + word)
			s.Installation = strings.ToUpper(word[:1])
			s.First = word == strings.ToLower(word) && len(word) == 1
			s.Votes = strings.HasSuffix(word, "!")
		}
		sights = append(sights, s)
	}
	return sights
}

// inBlank runs f with n masters that nobody has marked, and a max-ttl that it can wait
// for.
func inBlank(t *testing.T, n int, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, n)
		briefTTL(&w.cfg)
		f(w)
	})
}

// launch starts an engine and leaves the masters as they are.
func (w *world) launch(cfg Config) *Engine {
	e := New(cfg, w.log)
	w.engine, w.engines = e, append(w.engines, e)
	<-e.Tried()
	synctest.Wait()
	return e
}

// some is the configuration with these masters, counted from 1.
func (w *world) some(numbers ...int) Config {
	cfg := w.cfg
	cfg.Masters = nil
	for _, n := range numbers {
		cfg.Masters = append(cfg.Masters, w.masters[n-1].master())
	}
	return cfg
}

// allVote waits until all masters of an engine vote, and tells how long that took. It
// gives up after a while.
func allVote(e *Engine) (took time.Duration, voting bool) {
	began := time.Now()
	for time.Since(began) < 5*e.zero.MaxTTL {
		synctest.Wait()
		n := 0
		for _, s := range e.Status().Masters {
			if s.State == quorum.Voting {
				n++
			}
		}
		if n == len(e.zero.lanes) {
			return time.Since(began), true
		}
		time.Sleep(50 * ms)
	}
	return time.Since(began), false
}

// wantVotes waits until all masters vote: after a while, and what it takes until each was
// marked in its turn, and all are known to be.
func (w *world) wantVotes(e *Engine, after time.Duration) {
	w.t.Helper()
	turns := time.Duration(len(e.zero.lanes)+2) * e.zero.ProbeInterval
	switch took, voting := allVote(e); {
	case !voting:
		for _, s := range e.Status().Masters {
			w.t.Errorf("%s is %v: %s", s.Name, s.State, s.Reason)
		}
		w.t.FailNow()
	case took < after || took > after+turns:
		w.t.Errorf("it took %v, want %v", took, after)
	}
}

// wantMarked waits until all masters of an engine bear their first markers.
func (w *world) wantMarked(e *Engine, within time.Duration) {
	w.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * ms) {
		synctest.Wait()
		f := e.zero.firstStart()
		if f.begun && len(f.waits) == 0 {
			return
		}
		if time.Since(began) > within {
			w.t.Fatalf("after %v these are to be marked still: %q", within, f.waits)
		}
	}
}

func TestBlankMastersVoteAfterMaxTTL(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		inBlank(t, n, func(w *world) {
			w.launch(w.cfg)
			w.wantMarked(w.engine, 3*w.cfg.ProbeInterval)
			r := w.acquire("k", "a", time.Second)
			w.want(r, quorum.Unavailable)
			if !strings.HasPrefix(r.Why, "all masters are marked, and none has voted yet: a new set, or all was lost; locks from ") ||
				!strings.HasSuffix(r.Why, ", or at once after redlock-proxy bootstrap --no-locks-held") {
				t.Errorf("it is told %q", r.Why)
			}
			if left := w.state(1).Left; left < w.cfg.FirstTime()-2*time.Second || left > w.cfg.FirstTime() {
				t.Errorf("left are %v", left)
			}
			w.wantVotes(w.engine, w.cfg.FirstTime()-time.Second)
			w.want(w.acquire("k", "a", time.Second), quorum.Won)
			// So they do in all databases at once.
			if err := w.engine.Open(3); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			w.want(w.ask(quorum.Request{Kind: quorum.Acquire, DB: 3, Key: "k", Token: "a", TTL: time.Second}), quorum.Won)
		})
	}
}

func TestLossOfEverythingHealsByItself(t *testing.T) {
	for _, running := range []bool{true, false} {
		inBlank(t, 3, func(w *world) {
			w.engine = w.start(w.cfg)
			w.want(w.acquire("k", "a", 9*time.Second), quorum.Won)
			if !running {
				w.stop(w.engine)
			}
			w.each((*fakeMaster).restartBlank, 1, 2, 3)
			if !running {
				w.launch(w.cfg)
			}
			time.Sleep(time.Second)
			w.want(w.acquire("k", "b", time.Second), quorum.Unavailable)
			w.wantVotes(w.engine, w.cfg.FirstTime()-time.Second)
			w.want(w.acquire("k", "b", time.Second), quorum.Won)
		})
	}
}

// A machine is gone for good, and the others have lost everything. Which of them are marked
// depends on which one it is, and on whether the proxy has seen them vote.
func TestEmptyServerTakesThePlaceOfAMachineThatIsGoneInALossOfEverything(t *testing.T) {
	for gone := 1; gone <= 3; gone++ {
		for _, restarted := range []bool{false, true} {
			inSmallWorld(t, 3, func(w *world) {
				w.want(w.acquire("k", "a", time.Second), quorum.Won)
				time.Sleep(3 * time.Second)
				w.down(gone)
				for i, m := range w.masters {
					if i != gone-1 {
						m.restartBlank()
					}
				}
				if restarted {
					w.stop(w.engine)
					w.engine = New(w.cfg, w.log)
					w.engines = append(w.engines, w.engine)
				}
				time.Sleep(w.cfg.MaxTTL + time.Minute)
				if r := w.acquire("k", "b", time.Second); r.Decision != quorum.Unavailable {
					t.Fatalf("m%d is gone, restarted %t: %v", gone, restarted, r.Decision)
				}
				w.masters[gone-1].restartBlank() // another server, under its name
				w.up(gone)
				time.Sleep(w.cfg.FirstTime() + time.Minute)
				w.want(w.acquire("k", "b", time.Second), quorum.Won)
				for i := range w.masters {
					if s := w.state(i + 1); s.State != quorum.Voting {
						t.Errorf("m%d was gone, restarted %t: m%d is %v, %s", gone, restarted, i+1, s.State, s.Reason)
					}
				}
			})
		}
	}
}

// One proxy goes on from before and others come up while all is lost: they end in one
// installation.
func TestProxiesThatMeetInALossEndInOneInstallation(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		w.start(w.cfg)
		w.each((*fakeMaster).cut, 1, 2, 3)
		w.each((*fakeMaster).restartBlank, 1, 2, 3)
		for range 3 {
			e := New(w.cfg, w.log)
			w.engines = append(w.engines, e)
		}
		for _, e := range w.engines {
			if _, voting := allVote(e); !voting {
				t.Error("an engine has no votes")
			}
		}
		w.sameInstallation(1, 2, 3)
	})
}

// sameInstallation is a failure unless the masters bear one.
func (w *world) sameInstallation(numbers ...int) {
	w.t.Helper()
	found := make(map[string]bool)
	for _, n := range numbers {
		m, err := marker.Parse(w.masters[n-1].value(quorum.MarkerKey))
		if err != nil {
			w.t.Errorf("m%d: %v", n, err)
		}
		found[m.Installation] = true
	}
	if len(found) != 1 {
		w.t.Errorf("there are %d installations", len(found))
	}
}

func TestTwoProxiesThatStartAtOnceMakeOneSet(t *testing.T) {
	inBlank(t, 3, func(w *world) {
		for range 2 {
			w.engines = append(w.engines, New(w.cfg, w.log))
		}
		for _, e := range w.engines {
			if _, voting := allVote(e); !voting {
				t.Error("an engine has no votes")
			}
		}
		w.sameInstallation(1, 2, 3)
	})
}

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

// Proxies whose sets share masters, and differ: at most one of them grants anything,
// at any time.
func TestSetsThatShareMastersNeverBothGrant(t *testing.T) {
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
		w.masters[2].mend()
		w.wantVotes(w.engine, w.cfg.FirstTime())
	})
	inBlank(t, 3, func(w *world) { // it goes when two are marked
		once(w.masters[2], "EVAL "+master.FirstScript.Text, func(m *fakeMaster) { m.refuse, m.conns = true, map[int64]*socket{} })
		w.launch(w.cfg)
		time.Sleep(3 * w.cfg.MaxTTL)
		if s := w.state(1); s.State != quorum.Quarantined || !strings.Contains(s.Reason, "while no master could vote") {
			t.Errorf("%+v", s)
		}
		w.masters[2].mend()
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
