package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// Of three masters each two hold the same of one key, and no two hold the same of both. What is a lost step's to set
// right is what steps alone write; else what has been so for a while, as it may be a lock that is being won.
func TestLostStepHasAMasterHoldWhatAQuorumDoes(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		list, longer := listDump([]string{"a"}), listDump([]string{"a", "b"})
		o := &op{db: w.engine.zero, sent: make([]sending, 3)}
		o.Question = decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l", "s"}}, Said: make([]decide.Said, 3)}
		var votes decide.Votes
		for i, held := range [][2]string{{longer, stringDump("2")}, {longer, stringDump("1")}, {list, stringDump("2")}} {
			votes = votes.Voted(i, quorum.Granted, true)
			o.Said[i].Journal = &decide.Journal{Acted: true, Latched: true, Undo: []decide.UndoRecord{
				{Key: "l", Before: held[0], After: held[0], Left: int64(10_000 + i), Expires: int64(10_000 + i)},
				{Key: "s", Before: held[1], After: held[1], Left: decide.SaysNoTTL, Expires: decide.SaysNoTTL},
			}}
		}
		held := func(i int, key string, now time.Time) *decide.UndoRecord {
			return ruling{o, votes, now}.heldElsewhere(i, o.Said[i].Journal.Record(key))
		}
		now := time.Now()
		for _, same := range []struct {
			i   int
			key string
		}{{0, "l"}, {1, "l"}, {0, "s"}, {2, "s"}} {
			if got := held(same.i, same.key, now); got != nil {
				t.Errorf("master %d is to hold %+v of %s", same.i+1, got, same.key)
			}
		}
		if got := held(2, "l", now); got == nil || !dump.Same(got.Before, longer) || got.Left != 10_002 {
			t.Errorf("of the list master 3 is to hold %+v", got)
		}
		if got := held(1, "s", now); got != nil {
			t.Errorf("of the string master 2 is to hold %+v at once", got)
		}
		if got := held(1, "s", now.Add(2*w.cfg.AcquireTimeout)); got == nil || got.Before != stringDump("2") || got.Left != decide.SaysNoTTL {
			t.Errorf("of the string master 2 is to hold %+v after a while", got)
		}
		votes = decide.Votes(0).Voted(0, quorum.Refused, false).Voted(1, quorum.Granted, true).Voted(2, quorum.Granted, true)
		if got := held(2, "l", now); got == nil {
			t.Error("master 3 is to keep the list, and who has declined is latched, too")
		}
		o.Said[0].Journal.Latched = false
		if got := held(2, "l", now.Add(time.Hour)); got != nil {
			t.Errorf("of the list master 3 is to hold %+v, and only one that is latched has told", got)
		}
	})
}

// Who declines is latched from the second try on, and is let go of.
func TestWhatIsTriedAgainLatchesItsKeysWhereItDeclines(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "1", "2", "3")
		r := w.stepOn(tellStep, "k").wait(t)
		if r.Decision != quorum.Split {
			t.Fatalf("it came to %v", r.Decision)
		}
		w.settle()
		w.wantFree("k")
		tries := w.cfg.SplitRetries + 1
		for _, m := range w.masters {
			if got := len(m.commands("step ")); got != tries {
				t.Errorf("%s was asked %d times, want %d", m.name, got, tries)
			}
			if got := len(m.commands("let-go ")); got != tries-1 {
				t.Errorf("%s was let go of %d times, want %d", m.name, got, tries-1)
			}
		}
	})
}

// Who polls what he cannot have keeps nobody out by it.
func TestWhatMetALatchLatchesNothingWhereItDeclines(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "1", "1", "1")
		w.each(func(m *fakeMaster) { m.latch("k", 50*ms) }, 1, 2)
		if r := w.stepOn(tellStep, "k").wait(t); r.Decision != quorum.Contended {
			t.Fatalf("it came to %v", r.Decision)
		}
		w.settle()
		if got := w.masters[0].commands("let-go "); len(got) > 0 {
			t.Errorf("a master was told %q", got)
		}
	})
}
