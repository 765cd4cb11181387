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
		votes = decide.Votes(0).Voted(0, quorum.Refused, false).Voted(1, quorum.Granted, true).Voted(2, quorum.Granted, true)
		if got := held(2, "l", now.Add(time.Hour)); got != nil {
			t.Errorf("of the list master 3 is to hold %+v, and only one that is latched has told", got)
		}
	})
}
