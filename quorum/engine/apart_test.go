package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// addStep adds to a set, which is a list here: 0, and nothing, where the member is there already.
var addStep = quorum.NewStep("return redis.call('SADD', KEYS[1], ARGV[1])")

func init() {
	effects[addStep] = func(m *fakeMaster, name string, argv []string) effect {
		if slices.Contains(m.list(name), argv[0]) {
			return says(0, ":", "0")
		}
		m.setList(name, append(m.list(name), argv[0]))
		return says(decide.FlagWrote, ":", "1")
	}
	known = append(known, journal.FormOf(addStep).Own())
}

// What one master alone has, as an answer was lost, is taken from it once all are there. Until then its word is told to nobody.
func TestNoOneMasterTellsThatSomethingIsThere(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.listsApart("s", "x", "", "")
		w.down(3)
		if r := w.stepOn(addStep, "s", "x").wait(t); r.Decision != quorum.Split || r.Script != nil {
			t.Errorf("%v, %+v, where one master has it, one has not, and one is away", r.Decision, r.Script)
		}
		w.up(3)
		time.Sleep(10 * time.Second)
		w.wantNumber(w.stepOn(addStep, "s", "x").wait(t), 1)
		if r := w.stepOn(addStep, "s", "x").wait(t); r.Decision != quorum.Contended || r.Script == nil || r.Script.Int != 0 {
			t.Errorf("%v, %+v, where all have it", r.Decision, r.Script)
		}
	})
}

// A master that is quarantined is given nothing of a list that the others have apart, and would be kept out by that for the
// whole of max-ttl.
func TestListsApartAreMergedWhileAMasterIsQuarantined(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.listsApart("l", "a x", "a y", "a")
		time.Sleep(2 * w.cfg.AcquireTimeout)
		w.masters[2].restartBlank()
		time.Sleep(w.cfg.ProbeInterval)
		w.want(w.stepOn(popStep, "l").wait(t), quorum.Split)
		time.Sleep(w.cfg.MaxTTL / 4)
		w.wantNumber(w.stepOn(pushStep, "l", "b").wait(t), 2)
		if s := w.state(3).State; s != quorum.Voting {
			t.Errorf("the master that has forgotten is %v", s)
		}
	})
}

// What but one of the others has, or has for a while, is for the catch-up to give, or over by the end of that.
func TestWhatAQuarantinedMasterMayBeGivenIsNotMerged(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.listsApart("ends", "a x", "a y", "a")
		w.listsApart("l", "a x", "", "a")
		for _, m := range w.masters {
			m.locked(func() {
				k := m.keys["ends"]
				k.until = m.now() + int64(w.cfg.MaxTTL/2)
				m.keys["ends"] = k
			})
		}
		time.Sleep(2 * w.cfg.AcquireTimeout)
		w.masters[2].restartBlank()
		time.Sleep(w.cfg.ProbeInterval)
		for _, key := range []string{"ends", "l"} {
			w.want(w.stepOn(popStep, key).wait(t), quorum.Split)
		}
		time.Sleep(w.cfg.MaxTTL / 4)
		for i, want := range [][2]string{{"a x", "a x"}, {"a y", ""}} {
			for n, key := range []string{"ends", "l"} {
				if got := strings.Join(w.masters[i].elements(key), " "); got != want[n] {
					t.Errorf("%s of %d is %q, want %q", key, i+1, got, want[n])
				}
			}
		}
	})
}
