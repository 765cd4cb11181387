package engine

import (
	"strings"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/decide"
	"redlock-proxy/quorum/dump"
)

// A lock that is taken twice is held until it was let go twice, whoever was away meanwhile.
func TestLockThatIsTakenTwiceIsHeldUntilLetGoTwice(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		take := func() quorum.Decision { return w.ask(runOf(takeHash, "k", "a", "60000")).Decision }
		free := func() int64 { return w.ask(runOf(freeHash, "k", "a", "60000")).Script.Int }
		w.down(3)
		if d := take(); d != quorum.Won {
			t.Fatal(d)
		}
		w.up(3)
		w.down(2)
		second := take() // 1 has it for the second time, and 3 for the first
		w.up(2)
		if second != quorum.Won {
			second = take()
		}
		if second != quorum.Won {
			t.Fatal(second)
		}
		if free() != 0 {
			t.Error("the holder is told that it holds the lock no more")
		}
		w.want(w.acquire("k", "b", time.Minute), quorum.Contended)
		if free() != 1 {
			t.Error("the holder is told that it holds the lock still")
		}
		w.want(w.acquire("k", "b", time.Minute), quorum.Won)
	})
}

// Else a master that has missed one thing, and another that has missed another, would be
// two of three that never agree with anybody.
func TestMasterThatHasMissedAScriptIsBroughtUp(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		take := func() { w.want(w.ask(runOf(takeHash, "k", "a", "60000")), quorum.Won) }
		renew := func() { w.want(w.ask(runOf(renewHash, "k", "a", "60000")), quorum.Won) }
		take()
		w.down(3)
		take()
		w.up(3)
		// The one that is behind votes before the decision.
		w.masters[1].set(func(m *fakeMaster) { m.delay = 20 * ms })
		renew()
		w.wantValues("k", "a:2", "a:2", "a:1")
		time.Sleep(3 * w.cfg.AcquireTimeout)
		renew()
		w.settle()
		w.wantValues("k", "a:2", "a:2", "a:2")
		if left := w.masters[2].left("k"); left < 60*time.Second || left > 61*time.Second {
			t.Errorf("the master that was behind holds the lock for %v", left)
		}
		w.masters[1].set(func(m *fakeMaster) { m.delay = 0 })
		w.down(1)
		renew()
		take()
		w.wantValues("k", "a:2", "a:3", "a:3")
	})
}

// What a master holds may be newer than what a quorum has told.
func TestMasterIsNotBroughtUpToWhatMayBeOlder(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.want(w.ask(runOf(takeHash, "k", "a", "60000")), quorum.Won)
		w.masters[1].set(func(m *fakeMaster) { m.delay = 20 * ms })
		w.masters[2].set(func(m *fakeMaster) { m.hash("k", []string{"a", "60000"}, 2) })
		w.want(w.ask(runOf(renewHash, "k", "a", "60000")), quorum.Won)
		w.settle()
		w.wantValues("k", "a:1", "a:1", "a:2")
	})
}

func TestEffectsThatDiffer(t *testing.T) {
	long := func(s string) string { return dump.Fingerprint(hashDump(s + strings.Repeat("x", 200))) }
	whole := func(s string) string { return "\x10" + s + dumpEnd }
	for name, test := range map[string]struct {
		a, b decide.UndoRecord
		want bool
	}{
		"alike, of different ones":        {decide.UndoRecord{Before: whole("1"), After: whole("2")}, decide.UndoRecord{After: whole("2")}, false},
		"made otherwise of the same":      {decide.UndoRecord{Before: whole("1"), After: whole("2")}, decide.UndoRecord{Before: whole("1"), After: whole("3")}, true},
		"made otherwise of nothing":       {decide.UndoRecord{After: whole("2")}, decide.UndoRecord{After: whole("3")}, true},
		"counted from different ones":     {decide.UndoRecord{Before: whole("1"), After: whole("2")}, decide.UndoRecord{After: whole("1")}, true},
		"in another order":                {decide.UndoRecord{Before: whole("ab"), After: whole("abc")}, decide.UndoRecord{Before: whole("ba"), After: whole("bac")}, false},
		"removed and not":                 {decide.UndoRecord{Before: whole("1")}, decide.UndoRecord{Before: whole("2"), After: whole("1")}, true},
		"removed, of different ones":      {decide.UndoRecord{Before: whole("1")}, decide.UndoRecord{Before: whole("2")}, false},
		"long, of nothing":                {decide.UndoRecord{After: long("a")}, decide.UndoRecord{After: long("b")}, false},
		"long, of something and nothing":  {decide.UndoRecord{Before: whole("1"), After: long("a")}, decide.UndoRecord{After: long("b")}, true},
		"long tables, of different order": {decide.UndoRecord{Before: hashDump("ab"), After: long("a")}, decide.UndoRecord{Before: hashDump("ba"), After: long("b")}, false},
	} {
		if test.a.Differs(&test.b) != test.want || test.b.Differs(&test.a) != test.want {
			t.Errorf("%s: differs: %v", name, !test.want)
		}
	}
}

// A master was away when the lock was taken, and is back; renewals reach it, and then another
// one goes away: the holder has never been without a quorum.
func TestMasterThatHasMissedTheLockIsBroughtUpByRenewals(t *testing.T) {
	inWorld(t, 3, func(w *world) {
		w.down(3)
		w.want(w.ask(runOf(takeHash, "k", "a", "60000")), quorum.Won)
		w.up(3)
		// The one that is behind votes before the decision.
		w.masters[1].set(func(m *fakeMaster) { m.delay = 20 * ms })
		for range 5 {
			w.want(w.ask(runOf(renewHash, "k", "a", "60000")), quorum.Won)
			time.Sleep(time.Second)
		}
		w.masters[1].set(func(m *fakeMaster) { m.delay = 0 })
		w.down(1)
		w.want(w.ask(runOf(renewHash, "k", "a", "60000")), quorum.Won)
	})
}
