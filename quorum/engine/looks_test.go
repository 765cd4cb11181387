package engine

import (
	"math/bits"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/journal"
)

// Of five masters two have missed a step. One of them is there again.
func TestMasterIsMendedWhileAnotherIsAway(t *testing.T) {
	inWorld(t, 5, func(w *world) {
		w.knowsSteps()
		w.putAll("k", "10", "10", "10", "10", "10")
		w.wantNumber(w.count("k"), 11)
		w.down(4, 5)
		w.settle()
		w.wantNumber(w.count("k"), 12)
		w.up(4)
		time.Sleep(2 * time.Minute)
		w.wantValues("k", "12", "12", "12", "12", "11")
		w.up(5)
		time.Sleep(2 * time.Minute)
		w.wantValues("k", "12", "12", "12", "12", "12")
	})
}

// A master is there for a moment, and is away again before the look has come to it.
func TestMasterThatComesAndGoesIsMended(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.wantNumber(w.count("k"), 11)
		w.down(3)
		w.wantNumber(w.count("k"), 12)
		cut := false
		own := journal.FormOf(mendStep).Own()
		w.masters[2].set(func(m *fakeMaster) {
			m.respond = func(args []string) string {
				if !cut && strings.HasPrefix(args[0], "EVAL") && (args[1] == own.SHA || args[1] == own.Text) {
					cut = true
					go m.cut()
					return silence
				}
				return m.step(args)
			}
		})
		w.up(3)
		time.Sleep(5 * time.Minute)
		if !cut {
			t.Error("it was not looked at")
		}
		w.up(3)
		time.Sleep(2 * time.Minute)
		w.wantValues("k", "12", "12", "12")
	})
}

// So is a list that nobody can use while a master is away, for however long that is.
func TestWhatNoQuorumHoldsIsMergedOnceAllAreThere(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.listsApart("l", "a x", "a", "a y")
		time.Sleep(2 * w.cfg.AcquireTimeout)
		w.down(3)
		w.want(w.stepOn(popStep, "l").wait(t), quorum.Split)
		time.Sleep(5 * time.Minute)
		w.up(3)
		time.Sleep(2 * time.Minute)
		for _, m := range w.masters {
			if got := strings.Join(m.elements("l"), " "); got != "a" {
				t.Errorf("%s holds %q", m.name, got)
			}
		}
	})
}

// What is left elsewhere is told a moment before, and may be over: that is no life without an end.
func TestWhatIsNearlyOverIsNotBroughtUpForEver(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for left := range int64(20) {
			o := &op{
				Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: quorum.NewReaching("x"), Key: "k", Keys: []string{"k"}}, Said: make([]decide.Said, 3)},
				db:       w.engine.zero, sent: make([]sending, 3),
			}
			votes := decide.Votes(0)
			for i, expires := range []int64{left, left, decide.SaysAbsent} {
				content := ""
				if expires >= 0 {
					content = stringDump("a")
				}
				o.sent[i].asked.From, o.sent[i].asked.To = 100*ms, 110*ms
				votes = votes.Voted(i, quorum.Granted, true)
				record := decide.UndoRecord{Key: "k", Before: content, Left: expires, After: content, Expires: expires}
				o.Said[i].Journal = &decide.Journal{Acted: true, Undo: []decide.UndoRecord{record}}
			}
			r := ruling{o, votes, time.Now()}
			back := r.bringing(2, &o.Said[2].Journal.Undo[0], &o.Said[0].Journal.Undo[0])
			if want := max(left-10, 1); back.back.Left != want {
				t.Errorf("of %d ms %d are left, want %d", left, back.back.Left, want)
			}
		}
	})
}

// That no quorum has done a lost step, nor will, is told: it may be asked for again.
func TestWhatNoQuorumHasDoneIsUndone(t *testing.T) {
	push := quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}, Args: []string{"x"}, GivesBack: true}
	for name, c := range map[string]struct {
		spoil  func(w *world)
		undone bool
	}{
		"all are busy":  {func(w *world) { w.each(func(m *fakeMaster) { m.latch("l", time.Minute) }, 1, 2, 3) }, true},
		"none is there": {func(w *world) { w.down(1, 2, 3) }, true},
		"one is there":  {func(w *world) { w.down(2, 3) }, true},
		"two do not answer": {func(w *world) {
			w.each(func(m *fakeMaster) { m.set(func(m *fakeMaster) { m.delay = time.Minute }) }, 2, 3)
		}, false},
		"one is busy, one away": {func(w *world) { w.down(3); w.each(func(m *fakeMaster) { m.latch("l", time.Minute) }, 1) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				w.stepOn(pushStep, "l", "a").wait(t)
				w.settle()
				c.spoil(w)
				if r := w.put(push).wait(t); r.Decision == quorum.Won || (bits.OnesCount16(mayHave(r)) < 2) != c.undone {
					t.Errorf("%v, and %b may have done it", r.Decision, mayHave(r))
				}
			})
		})
	}
}
