package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
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
func TestWhatAMasterWithoutAVoteMayBeGivenIsNotMerged(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		for _, c := range []struct {
			lists   [3]string
			left    int64
			latched bool // the last
			want    string
		}{
			{[3]string{"a x", "a y", ""}, decide.SaysNoTTL, true, "a"},
			{[3]string{"a x", "a y", ""}, decide.SaysNoTTL, false, ""},
			{[3]string{"a x", "a y", ""}, 60_000, true, ""},
			{[3]string{"a x", "a y", "a x"}, decide.SaysNoTTL, true, ""},
			{[3]string{"a x", "", ""}, decide.SaysNoTTL, true, ""},
		} {
			o := &op{
				Question: decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: mendStep, Key: "l", Keys: []string{"l"}}, Said: make([]decide.Said, 3)},
				db:       w.engine.zero, sent: make([]sending, 3),
			}
			votes := decide.Votes(0)
			for i, list := range c.lists {
				vote, latched := quorum.Refused, true
				if i == 2 {
					vote, latched = quorum.Withheld, c.latched
				}
				votes = votes.Voted(i, vote, false)
				record := decide.UndoRecord{Key: "l", Left: decide.SaysAbsent, Expires: decide.SaysAbsent, Calm: time.Hour}
				if list != "" {
					record.Before, record.Left = listDump(strings.Fields(list)), c.left
					record.After, record.Expires = record.Before, c.left
				}
				o.Said[i].Journal = &decide.Journal{Latched: latched, Undo: []decide.UndoRecord{record}}
			}
			r := ruling{o, votes, time.Now()}
			held := r.heldElsewhere(0, o.Said[0].Journal.Record("l"))
			if c.want == "" && held != nil || c.want != "" && (held == nil || !dump.SameContents(held.Before, listDump(strings.Fields(c.want)))) {
				t.Errorf("%q, %d ms, %v: the first is to hold %+v, want %q", c.lists, c.left, c.latched, held, c.want)
			}
			if r.heldElsewhere(2, o.Said[2].Journal.Record("l")) != nil {
				t.Errorf("%q: the last is to hold something", c.lists)
			}
		}
	})
}

// A master may be quarantined, and have all that it was given: what it has with one of the others was answered.
func TestWhatAQuarantinedMasterHasIsNotTakenFromTheOthers(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.wantNumber(w.stepOn(addStep, "s", "a").wait(t), 1)
		w.settle()
		time.Sleep(3 * time.Second)
		w.masters[1].latch("s", 100*ms)
		w.wantNumber(w.stepOn(addStep, "s", "x").wait(t), 1) // by 1 and 3
		w.settle()
		w.masters[2].set(func(m *fakeMaster) { m.jumped += 5 * time.Second })
		for range 20 {
			if r := w.stepOn(addStep, "s", "x").wait(t); r.Decision == quorum.Won {
				t.Fatal("it is told to two that they have added it")
			}
			time.Sleep(time.Second)
		}
		if s := w.state(3).State; s == quorum.Voting {
			t.Fatalf("the master whose clock was set is %v", s)
		}
	})
}

// Nor has one forgotten that another proxy has admitted, of which this one has not heard.
func TestQuarantineThatIsOverElsewhereIsOver(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		cut := false
		other := w.beside(3, func() bool { return cut })
		w.stepOn(pushStep, "l", "a").wait(t)
		w.settle()
		time.Sleep(3 * time.Second)
		w.masters[2].set(forgetAll)
		for range 30 {
			other.stepOn(addStep, "z", "z").wait(t)
			if time.Sleep(100 * ms); other.engine.zero.lanes[2].quarantined() {
				break
			}
		}
		cut = true
		w.masters[2].cut()
		w.masters[2].rejoin()
		w.votesWithin(3, 20*time.Second)
		time.Sleep(3 * time.Second)
		w.masters[1].latch("l", 100*ms)
		w.wantNumber(w.stepOn(pushStep, "l", "x").wait(t), 2) // by 1 and 3
		w.settle()
		w.stop(w.engine)
		if !other.engine.zero.lanes[2].quarantined() {
			t.Fatal("the other proxy has heard of it")
		}
		time.Sleep(2 * w.cfg.AcquireTimeout)
		other.stepOn(popStep, "l").wait(t)
		time.Sleep(10 * time.Second)
		for _, i := range []int{0, 2} {
			if got := strings.Join(w.masters[i].elements("l"), " "); got != "a x" {
				t.Errorf("%d holds %q", i+1, got)
			}
		}
	})
}
