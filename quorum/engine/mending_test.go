package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// A master that was busy with another proxy's step is behind, and is brought up though no other step follows.
func TestMasterThatWasBusyIsMended(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.each(func(m *fakeMaster) { m.latch("k", 100*ms) }, 2)
		w.wantNumber(w.count("k"), 11)
		w.settle()
		w.wantValues("k", "11", "10", "11")
		time.Sleep(4 * (2*w.cfg.AcquireTimeout + w.cfg.SplitDelay + 100*ms))
		w.wantValues("k", "11", "11", "11")
		w.wantFree("k")
	})
}

// So is another key of its tag that is left behind before that is looked at, and one on a master that is away meanwhile.
func TestWhatWaitsToBeMendedIsNotForgotten(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("{t}a", "10", "10", "10")
		w.putAll("{t}b", "10", "10", "10")
		for _, key := range []string{"{t}a", "{t}b"} {
			w.each(func(m *fakeMaster) { m.latch(key, 100*ms) }, 2)
			w.wantNumber(w.count(key), 11)
			time.Sleep(200 * ms)
		}
		w.masters[1].cut()
		time.Sleep(2 * w.cfg.AcquireTimeout)
		w.masters[1].rejoin()
		time.Sleep(40 * (2*w.cfg.AcquireTimeout + w.cfg.SplitDelay + 100*ms))
		w.wantValues("{t}a", "11", "11", "11")
		w.wantValues("{t}b", "11", "11", "11")
	})
}

// listsApart has each master hold another list, or none, by steps that were lost.
func (w *world) listsApart(key string, lists ...string) {
	w.stepOn(pushStep, key, "a").wait(w.t)
	w.settle()
	for i, list := range lists {
		m := w.masters[i]
		m.locked(func() {
			if delete(m.keys, key); list != "" {
				m.becomes(key, listDump(strings.Fields(list)), "0", "", "")
			}
			m.stepsLeave(key, list, "")
		})
	}
}

// Where no two masters hold the same of a list no step is won, until it is merged.
func TestWhatNoQuorumHoldsIsMerged(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.listsApart("l", "a x", "a", "a y")
		time.Sleep(2 * w.cfg.AcquireTimeout)
		w.want(w.stepOn(popStep, "l").wait(t), quorum.Split)
		time.Sleep(4 * (2*w.cfg.AcquireTimeout + w.cfg.SplitDelay + 100*ms))
		w.wantNumber(w.stepOn(pushStep, "l", "b").wait(t), 2)
	})
}

// Of what is merged, an expiry that a quorum has stays.
func TestWhatIsMergedLivesAsLongAsAQuorumHasIt(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		for i, list := range []string{"x", "x b", "x c"} {
			m := w.masters[i]
			m.locked(func() { m.becomes("l", listDump(strings.Fields(list)), "0", "", "") })
		}
		for _, i := range []int{0, 1} {
			w.masters[i].locked(func() {
				k := w.masters[i].keys["l"]
				k.until = w.masters[i].now() + int64(100*time.Second)
				w.masters[i].keys["l"] = k
			})
		}
		w.put(quorum.Request{Kind: quorum.Run, Script: countStep, Key: "n", Keys: []string{"n", "l"}}).wait(t)
		time.Sleep(40 * (2*w.cfg.AcquireTimeout + w.cfg.SplitDelay))
		for i, m := range w.masters {
			if got := strings.Join(m.elements("l"), " "); got != "x" {
				t.Errorf("m%d holds %q", i+1, got)
			}
			if left := m.left("l"); left < 70*time.Second || left > 100*time.Second {
				t.Errorf("m%d holds it for %v", i+1, left)
			}
		}
	})
}

// A master that was away is behind. It is looked at when it is there, and the others are not while it is not.
func TestMasterThatWasAwayIsMended(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.wantNumber(w.count("k"), 11)
		w.down(3)
		w.settle()
		w.wantNumber(w.count("k"), 12)
		time.Sleep(10 * time.Minute)
		if n := len(w.masters[0].commands("step k")); n != 2 {
			t.Errorf("%d steps were asked for while a master was away, want 2", n)
		}
		w.up(3)
		time.Sleep(10 * time.Second)
		w.wantValues("k", "12", "12", "12")
		w.engine.zero.mendings.mu.Lock()
		defer w.engine.zero.mendings.mu.Unlock()
		if n := len(w.engine.zero.mendings.tags); n != 0 {
			t.Errorf("%d looks wait", n)
		}
	})
}

// What a master has for longer than a quorum it would have alone, and give to one that has forgotten.
func TestLifeThatAQuorumDoesNotHaveIsSetRight(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		for i, life := range []time.Duration{time.Minute, time.Minute, time.Hour} {
			w.masters[i].put("k", "10", life)
		}
		w.each(func(m *fakeMaster) { m.latch("k", 100*ms) }, 2)
		w.wantNumber(w.count("k"), 11)
		time.Sleep(10 * time.Second)
		w.wantValues("k", "11", "11", "11")
		for _, m := range w.masters {
			if left := m.left("k"); left < 49*time.Second || left > 51*time.Second {
				t.Errorf("on %s it ends in %v", m.name, left)
			}
		}
	})
}

func TestLooksAreAtAllKeysOfATag(t *testing.T) {
	var keys []string
	for i := range 2*maxMendingKeys + 1 {
		keys = append(keys, fmt.Sprint("{t}", i))
	}
	var s mendings
	if begin := s.add(nil, slices.Clone(keys[:maxMendingKeys+1]), 0, maxMendings); len(begin) != 2 {
		t.Errorf("%d looks begin", len(begin))
	}
	if begin := s.add(nil, slices.Clone(keys), 2, maxMendings); len(begin) != 1 {
		t.Errorf("%d looks begin besides", len(begin))
	}
	var all []string
	for nth := range 3 {
		m := s.tags[mendingPlace{"t", nth}]
		if all = append(all, m.keys...); m.missed != 2 || m.due != (nth < 2) {
			t.Errorf("look %d is %+v", nth, m)
		}
	}
	if !slices.Equal(all, keys) {
		t.Errorf("%q are looked at", all)
	}
	for i := range 2 * maxMendings {
		key := fmt.Sprint(i)
		s.add(nil, []string{key, strings.Repeat("k", 2*longestMended)}, 2, maxMendings/2)
	}
	if n := len(s.tags); n != maxMendings/2 {
		t.Errorf("%d looks wait for a master", n)
	}
	s.add(nil, []string{"k"}, 0, maxMendings)
	if m := s.tags[mendingPlace{"k", 0}]; m == nil || !m.due {
		t.Error("there is no look for those that are there")
	}
}

// What is alike is looked at no more, and what cannot be mended a few times.
func TestMendingEnds(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.each(func(m *fakeMaster) { m.latch("k", time.Hour) }, 2)
		w.wantNumber(w.count("k"), 11)
		time.Sleep(10 * time.Minute)
		if n := len(w.masters[0].commands("step k")); n != 1+mendingTries {
			t.Errorf("%d steps were asked for, want %d", n, 1+mendingTries)
		}
		w.engine.zero.mendings.mu.Lock()
		defer w.engine.zero.mendings.mu.Unlock()
		if n := len(w.engine.zero.mendings.tags); n != 0 {
			t.Errorf("%d tags wait", n)
		}
	})
}

// Who is asked late of a step that was won may have gone on with others since: what it has is no older for being calm.
func TestWhatIsLateIsNotBroughtUp(t *testing.T) {
	for is, want := range map[struct{ late, acted bool }]string{{false, true}: "4", {true, true}: "6", {false, false}: "4", {true, false}: "7"} {
		inWorldOfSteps(t, func(w *world) {
			const holder = "0123456789abcdef:1"
			w.putAll("k", "4", "4", "7")
			w.masters[2].put(journal.Latch("k"), holder, time.Minute)
			w.masters[2].locked(func() { w.masters[2].leaves("k", "", stringDump("7"), 1) })
			o := &op{
				Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: countStep, Key: "k", Keys: []string{"k"}}, Said: make([]decide.Said, 3)}, db: w.engine.zero,
				turn: &turn{tags: []string{"k"}}, holder: holder, sent: make([]sending, 3),
			}
			c := decide.Votes(0).With(quorum.Won)
			for i, before := range []string{"3", "3", "6"} {
				after, acted := map[string]string{"3": "4", "6": "7"}[before], i < 2 || is.acted
				if acted {
					c = c.Voted(i, quorum.Granted, true)
				} else {
					before, c = after, c.Voted(i, quorum.Refused, false)
				}
				o.sent[i].nonce = w.engine.zero.lanes[i].nonce
				o.Said[i].Journal = &decide.Journal{Acted: acted, Latched: true, Undo: []decide.UndoRecord{
					{Key: "k", Before: stringDump(before), Left: decide.SaysNoTTL, After: stringDump(after), Expires: decide.SaysNoTTL, Calm: time.Hour},
				}}
				o.Said[i].Journal.Found = o.Said[i].Journal.Undo
			}
			o.deciders.Store(uint64(decide.Votes(0).Voted(0, quorum.Granted, true).Voted(1, quorum.Granted, true)))
			if !is.late {
				o.deciders.Store(uint64(c))
			}
			ruling{o, c, time.Now()}.commit(2, is.late)
			w.settle()
			w.wantValues("k", "4", "4", want)
		})
	}
}

// What a step brings up is left alone if a DEL has found nothing there meanwhile, or a SET has written the
// same.
func TestWhatWasWrittenMeanwhileIsNotSetRight(t *testing.T) {
	notInstrumented(t)
	real := bothSides(t)[0].(realSide)
	for known, want := range map[bool]int64{true: 1, false: 0} {
		real.do("FLUSHALL")
		real.do("SET", journal.Latch("k"), "own", "PX", "60000")
		if known {
			real.do("HSET", quorum.StepsKey, "k", "00000000000000"+"000000000000000")
		}
		said := real.run(latchScript, append(slices.Clone(undoKeys), journal.Latch("k"), quorum.StepsKey), []string{
			"own", "bring-up", "", "", real.dump("the"), "0", "0", "0", "1", "", "", "", "",
		})
		if said != want || (real.do("EXISTS", "k") == int64(1)) != known {
			t.Errorf("known: %v; it said %v, and %v keys are there", known, said, real.do("EXISTS", "k"))
		}
	}
}
