package engine

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	withoutRules = flag.Bool("rules", false, "take each rule out of the source in turn, and have the simulation or a test find what comes of it")
	partOfRules  = flag.Int("part", 0, "with -rules: every fourth rule alone, from the first (1) to the fourth (4)")
)

// rule is one thing that the promises rest on: with old replaced by new in a file, mostly
// of this package, it is gone.
type rule struct {
	name, file, old, new string

	leaves    bool // it is about what is left behind, not about two holders
	seed      int  // soon after which its absence was found
	schedules schedulesOf
}

// schedulesOf are the schedules in which a rule matters.
type schedulesOf struct {
	simulation string
	most       int // that are tried
	flags      []string
	folder     string // of the package, if it is another one
}

var (
	faults   = schedulesOf{simulation: "SimulatedFaults", most: 20000}
	constant = schedulesOf{simulation: "SimulatedConstantTokens", most: 20000} // clients lock with one
	sockets  = schedulesOf{simulation: "SimulatedConstantTokens", most: 20000, flags: []string{"-sockets"}}

	reconfigured = schedulesOf{simulation: "SimulatedReconfigurations", most: 2000} // masters are
	endings      = schedulesOf{simulation: "SimulatedEnds", most: 2000}
	firsts       = schedulesOf{simulation: "SimulatedFirstStarts", most: 2000}
	standstills  = schedulesOf{simulation: "SimulatedStandstills", most: 2000} // of the proxies' machine
	rareLooks    = schedulesOf{simulation: "SimulatedRareLooks", most: 2000}
	proxies      = schedulesOf{simulation: "SimulatedProxies", most: 2000} // whole ones
)

// catchUps of a kind, or of all kinds: anyKind.
func catchUps(kind int) schedulesOf {
	return schedulesOf{simulation: "SimulatedCatchUps", most: 4000, flags: []string{"-kind", fmt.Sprint(kind)}}
}

// named is the one test that shows what a rule is for, where that takes more than the
// simulation does to masters.
func named(test string) schedulesOf {
	return schedulesOf{simulation: "^" + test + "$", most: 1}
}

// in is that of a test of another package, in a folder as seen from here.
func (s schedulesOf) in(folder string) schedulesOf {
	s.folder = folder
	return s
}

var rules = slices.Concat(rulesOfMemory, rulesOfCatchUps, rulesOfVotes, rulesOfTags, rulesOfWaiting)

// TestEachRuleIsNeeded takes the rules out one by one: each time the simulation, or a test,
// must find a promise broken, or it proves nothing about the rule.
func TestEachRuleIsNeeded(t *testing.T) {
	if !*withoutRules {
		t.Skip("run with -rules: it builds the package once for each rule")
	}
	for i, r := range rules {
		if *partOfRules > 0 && i%4 != *partOfRules-1 {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			found := r.without(t)
			if found == "" {
				t.Error("nothing was found")
				return
			}
			t.Log(found)
		})
	}
}

func TestEachRuleIsInTheSource(t *testing.T) {
	for _, r := range rules {
		source, err := os.ReadFile(r.file)
		if err != nil || strings.Count(string(source), r.old) != 1 {
			t.Errorf("%s: %s has %d places that look like %q, %v", r.name, r.file, strings.Count(string(source), r.old), r.old, err)
		}
	}
}

// A pattern that names no test passes whatever is taken out.
func TestEachRuleNamesATest(t *testing.T) {
	for _, r := range rules {
		files, err := filepath.Glob(filepath.Join(r.schedules.folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(r.schedules.simulation)
		if !slices.ContainsFunc(files, func(file string) bool {
			source, err := os.ReadFile(file)
			return err == nil && slices.ContainsFunc(testFunction.FindAllStringSubmatch(string(source), -1), func(found []string) bool {
				return named.MatchString(found[1])
			})
		}) {
			t.Errorf("%s: no test in %q is named %s", r.name, r.schedules.folder, r.schedules.simulation)
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// without simulates the package without the rule, and returns what it found.
func (r rule) without(t *testing.T) string {
	dir := t.TempDir()
	source, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(r.file)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, filepath.Base(r.file))
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), r.old, r.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, _ := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	// What tells a debugger of it, and calls that are carried out in place, are half of what building
	// it takes.
	args := []string{"test", "-vet=off", "-gcflags=-dwarf=false -l", "-ldflags=-s -w", "-timeout", "30m", "-overlay", list, "-run", r.schedules.simulation}
	run := func(more ...string) ([]byte, error) {
		return exec.Command("go", append(slices.Clip(args), more...)...).CombinedOutput()
	}
	var out []byte
	if r.schedules.folder != "" {
		out, err = run(r.schedules.folder)
	} else {
		args = append(append(args, "-seed", fmt.Sprint(max(uint64(r.seed), *seedFlag))), r.schedules.flags...)
		if !r.leaves {
			args = append(args, "-holders")
		}
		// A seed does not always find what it has found once.
		out, err = run("-schedules", "3", "-count", "20", "-failfast", ".")
		if err == nil {
			out, err = run("-schedules", fmt.Sprint(r.schedules.most), ".")
		}
	}
	if err == nil {
		return ""
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		for _, sign := range []string{"seed ", "--- FAIL: "} {
			if i := strings.Index(line, sign); i >= 0 {
				return line[i:]
			}
		}
	}
	t.Fatalf("it was not simulated: %v\n%s", err, out)
	return ""
}
