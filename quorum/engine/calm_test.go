package engine

import (
	"slices"
	"testing"

	"redlock-proxy/quorum"
	"redlock-proxy/quorum/catchup"
	"redlock-proxy/quorum/journal"
	"redlock-proxy/quorum/master"
)

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
		"release of another": {"another", releaseScript, []string{"the"}, false},
		"remove":             {"the", removeScript, []string{journal.NoDate}, false},
		"remove of nothing":  {"", removeScript, []string{journal.NoDate}, false},
		"write":              {"the", writeScript, []string{"SET", "k", "the", journal.NoDate}, false},
		"take back":          {"the", takeBackScript, append([]string{"the"}, bounds...), false},
		"put back":           {"the", putBackScript, slices.Concat([]string{real.dump("the"), real.dump("another"), "0"}, bounds, []string{"", ""}), false},
		"extend":             {"the", extendScript, []string{"the", "60000"}, true},
		"a script":           {"", journal.FormOf(lockScript).Own(), []string{"1", "0", "the", "60000", journal.NoDate}, false},
		"one of nothing":     {"", journal.FormOf(freeScript).Own(), []string{"1", "0", "the", journal.NoDate}, false},
		"one of another":     {"another", journal.FormOf(freeScript).Own(), []string{"1", "0", "the", journal.NoDate}, false},
		"one that reads":     {"the", journal.FormOf(readsOnly).Own(), []string{"1", "0", journal.NoDate}, true},
		"lay":                {"the", catchup.LayScript, []string{nonceThere, catchup.DigestOf("the")}, false},
		"copy":               {"the", catchup.CopyScript, []string{nonceThere, "run", "60000", "w", "the", "-1"}, false},
		"return":             {"the", catchup.ReturnScript, []string{nonceThere, "run", "60000", catchup.DigestOf("the")}, false},
	} {
		real.do("FLUSHALL")
		if c.holds != "" {
			real.do("SET", "k", c.holds)
		}
		real.do("HSET", quorum.StepsKey, "k", "x", "other", "x")
		real.do("SET", quorum.MarkerKey, nonceThere+"{}")
		real.do("SET", catchup.LeaseKey, "run")
		keys := []string{"k"}
		switch c.s {
		case takeBackScript, putBackScript:
			keys = undoKeys
		case catchup.LayScript:
			keys = []string{quorum.MarkerKey, "k"}
		case catchup.CopyScript, catchup.ReturnScript:
			keys = []string{quorum.MarkerKey, catchup.LeaseKey, "k"}
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
