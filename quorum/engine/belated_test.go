package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// A master that is busy with another proxy's step as one is won acts as well, when that is over; and
// until then it is nobody else's turn.
func TestMasterThatWasBusyIsAskedOnceMore(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.delayed(5*ms, 1, 2) // or it would not be heard before the decision
		w.masters[2].latch("k", 5*ms+w.cfg.SplitDelay/3)
		first, second := w.stepOn(countStep, "k"), w.stepOn(countStep, "k")
		w.wantNumber(first.wait(t), 1)
		w.wantNumber(second.wait(t), 2)
		w.settle()
		w.wantValues("k", "2", "2", "2")
		w.wantFree("k")
	})
}

// Another proxy that does not let go is not waited for.
func TestMasterThatStaysBusyIsNotAskedForEver(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.delayed(5*ms, 1, 2)
		w.masters[2].latch("k", time.Minute)
		began := time.Now()
		for n := range int64(3) {
			w.wantNumber(w.count("k"), n+1)
		}
		if took := time.Since(began); took > 3*(w.cfg.SplitDelay+w.cfg.AcquireTimeout/20+10*ms) {
			t.Errorf("it took %v", took)
		}
		w.settle()
		w.wantValues("k", "3", "3", "")
	})
}

// One that holds something else, or nothing any more, is left alone.
func TestMasterThatWasBusyActsOnNothingElse(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.delayed(5*ms, 1, 2)
		for key, third := range map[string]string{"other": "3", "none": ""} {
			w.putAll(key, "7", "7")
			if third != "" {
				w.masters[2].put(key, third, 0)
			}
			w.masters[2].latch(key, 5*ms+w.cfg.SplitDelay/3)
			w.wantNumber(w.count(key), 8)
			w.settle()
			w.wantValues(key, "8", "8", third)
			w.wantFree(key)
		}
	})
}

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
			o.Said[i].Journal = &decide.Journal{Acted: true, Undo: []decide.UndoRecord{
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
		o.Said[0].Journal.Busy = true
		if got := held(2, "l", now.Add(time.Hour)); got != nil {
			t.Errorf("of the list master 3 is to hold %+v, and no quorum has told", got)
		}
	})
}
