package engine

import (
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
	"redlock-proxy/quorum/journal"
)

// Of three masters each two hold the same of one key, and no two hold the same of both. What is a lost step's to set
// right is what steps alone write: all else may be a lock that is being won.
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
		for _, now := range []time.Time{now, now.Add(2 * w.cfg.AcquireTimeout)} {
			if got := held(1, "s", now); got != nil {
				t.Errorf("of the string master 2 is to hold %+v", got)
			}
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

// The lists that masters 1 and 2 hold are the longer; 3 is set right only where the step's latch is there yet: without it
// others may have come back to the same by now.
func TestWhatALostStepSetsRightIsLatchedYet(t *testing.T) {
	for name, latched := range map[string]bool{"latched": true, "not latched any more": false} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				const holder = "0123456789abcdef:1"
				list, longer := listDump([]string{"a"}), listDump([]string{"a", "b"})
				m := w.masters[2]
				m.locked(func() { m.becomes("l", list, "0", "", ""); m.leaves("l", "", list, 1) })
				if latched {
					m.put(journal.Latch("l"), holder, time.Minute)
				}
				o := &op{db: w.engine.zero, sent: make([]sending, 3), holder: holder, turn: &turn{tags: []string{"l"}}}
				o.Question = decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: pushStep, Key: "l", Keys: []string{"l"}}, Said: make([]decide.Said, 3)}
				var votes decide.Votes
				for i, held := range []string{longer, longer, list} {
					votes = votes.Voted(i, quorum.Refused, false)
					o.sent[i].nonce = w.engine.zero.lanes[i].nonce
					o.Said[i].Journal = &decide.Journal{Latched: true, Undo: []decide.UndoRecord{
						{Key: "l", Before: held, After: held, Left: decide.SaysNoTTL, Expires: decide.SaysNoTTL},
					}}
				}
				r := ruling{o, votes, time.Now()}
				r.endAll(r.endings(2, false))
				w.settle()
				var got string
				m.locked(func() { got, _ = m.dump("l") })
				if right := dump.Same(got, longer); right != latched {
					t.Errorf("master 3 was set right: %v, want %v", right, latched)
				}
				w.wantFree("l")
			})
		})
	}
}

// Who declines what others count is latched from the second try on, and let go of where they are levelled.
func TestLevelledCountLetsGoOfWhoDeclined(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		const holder = "0123456789abcdef:1"
		w.masters[2].put(journal.Latch("k"), holder, time.Minute)
		a := newWaiter()
		o := &op{db: w.engine.zero, sent: make([]sending, 3), holder: holder, asker: a}
		o.Question = decide.Question{Request: quorum.Request{Kind: quorum.Run, Script: countStep, Key: "k", Keys: []string{"k"}}, Said: make([]decide.Said, 3)}
		var votes decide.Votes
		for i := range 2 {
			votes = votes.Voted(i, quorum.Granted, true)
			o.Said[i].Journal = &decide.Journal{Acted: true, Latched: true,
				Reply: quorum.ScriptReply{Reply: quorum.Reply{Kind: quorum.IntegerReply, Int: int64(11 + 10*i)}},
				Undo:  []decide.UndoRecord{{Key: "k", Before: stringDump("10"), After: stringDump("11")}},
			}
		}
		votes = votes.Voted(2, quorum.Refused, false)
		o.Said[2].Journal = &decide.Journal{Latched: true}
		w.engine.zero.inFlight.Add(1)
		ruling{o, votes, time.Now()}.level(0)
		a.wait(t)
		w.settle()
		w.wantFree("k")
	})
}

// A lock that a step finds on one master alone may be one that is being won, and once more, however often that is found; so
// it is left alone, unless it is the same one for longer than that takes.
func TestLockThatIsBeingWonIsNotSetRight(t *testing.T) {
	for name, again := range map[string]bool{"the same": false, "another each time": true} {
		t.Run(name, func(t *testing.T) {
			inWorldOfSteps(t, func(w *world) {
				m := w.masters[2]
				m.put("lock", "token", 24*time.Hour)
				for n := range int64(20) {
					w.wantNumber(w.put(quorum.Request{Kind: quorum.Run, Script: countStep, Key: "n", Keys: []string{"n", "lock"}}).wait(t), n+1)
					w.settle()
					time.Sleep(w.cfg.AcquireTimeout)
					if v := m.value("lock"); again && v != "token" {
						t.Fatalf("m3 holds %q", v)
					}
					if again {
						m.locked(func() { m.do([]string{"EVALSHA", releaseScript.SHA, "1", "lock", "token"}, 0) })
						m.put("lock", "token", 24*time.Hour)
					}
				}
				want := map[bool]string{true: "token"}[again]
				w.wantValues("lock", "", "", want)
			})
		})
	}
}
