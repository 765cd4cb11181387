package engine

import (
	"slices"
	"testing"
	"time"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

// A master that was busy with another proxy's step is behind, and is brought up though no other step follows.
func TestMasterThatWasBusyIsMended(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.each(func(m *fakeMaster) { m.latch("k", 100*ms) }, 2)
		w.wantNumber(w.count("k"), 11)
		w.settle()
		w.wantValues("k", "11", "10", "11")
		time.Sleep(mendingTries * (2*w.cfg.AcquireTimeout + w.cfg.SplitDelay + 100*ms))
		w.wantValues("k", "11", "11", "11")
		w.wantFree("k")
	})
}

// What is alike is looked at no more, and what cannot be mended a few times.
func TestMendingEnds(t *testing.T) {
	inWorldOfSteps(t, func(w *world) {
		w.putAll("k", "10", "10", "10")
		w.each(func(m *fakeMaster) { m.latch("k", time.Hour) }, 2)
		w.wantNumber(w.count("k"), 11)
		time.Sleep(time.Minute)
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

// What else than a step writes to a key on a master, deletes it, or should have, has steps begin anew to count for how
// long it is calm there.
func TestWhatIsNoStepIsNotCalm(t *testing.T) {
	notInstrumented(t)
	real := bothSides(t)[0].(realSide)
	bounds := []string{"0", "9000000000000", "1", ""}
	for name, c := range map[string]struct {
		holds string
		s     *master.Script
		argv  []string
		stays bool
	}{
		"release":            {"the", releaseScript, []string{"the"}, false},
		"release of nothing": {"", releaseScript, []string{"the"}, false},
		"release of another": {"another", releaseScript, []string{"the"}, true},
		"remove":             {"the", removeScript, []string{journal.NoDate}, false},
		"remove of nothing":  {"", removeScript, []string{journal.NoDate}, false},
		"write":              {"the", writeScript, []string{"SET", "k", "the", journal.NoDate}, false},
		"take back":          {"the", takeBackScript, append([]string{"the"}, bounds...), false},
		"put back":           {"the", putBackScript, slices.Concat([]string{real.dump("the"), real.dump("another"), "0"}, bounds, []string{"", ""}), false},
		"extend":             {"the", extendScript, []string{"the", "60000"}, true},
		"a script":           {"", journal.FormOf(lockScript).Own(), []string{"1", "0", "the", "60000", journal.NoDate}, false},
	} {
		real.do("FLUSHALL")
		if c.holds != "" {
			real.do("SET", "k", c.holds)
		}
		real.do("HSET", quorum.StepsKey, "k", "x", "other", "x")
		keys := undoKeys
		if c.s.SHA == journal.FormOf(lockScript).Own().SHA {
			keys = keys[:1]
		}
		said := real.run(c.s, keys, c.argv)
		if stays := real.do("HEXISTS", quorum.StepsKey, "k") == int64(1); stays != c.stays {
			t.Errorf("%s: it said %v, and the key stays: %v", name, said, stays)
		}
		if real.do("HEXISTS", quorum.StepsKey, "other") != int64(1) {
			t.Errorf("%s: another key is dropped", name)
		}
	}
}
