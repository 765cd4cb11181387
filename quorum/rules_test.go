package quorum

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var withoutRules = flag.Bool("rules", false, "take each rule out of the source in turn, and have the simulation find what comes of it")

// rule is one thing that the promises rest on: with old replaced by new in a file
// of this package it is gone.
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
}

var (
	faults   = schedulesOf{"SimulatedFaults", 20000, nil}
	constant = schedulesOf{"SimulatedConstantTokens", 20000, nil} // clients lock with one
	sockets  = schedulesOf{"SimulatedConstantTokens", 20000, []string{"-sockets"}}
)

// catchUps of a kind, or of all kinds: anyKind.
func catchUps(kind int) schedulesOf {
	return schedulesOf{"SimulatedCatchUps", 4000, []string{"-kind", fmt.Sprint(kind)}}
}

var rules = []rule{
	{"a master that forgot is quarantined", "standing.go",
		"return 0, l.mark(link, read, l.markerOf(link, e.installation(), true, why))",
		"return 0, l.mark(link, read, l.markerOf(link, e.installation(), false, why))", false, 52, faults},
	{"a vote counts with its proof", "standing.go",
		"l.doubt = true\n\t\treturn false",
		"l.doubt = true\n\t\treturn true", false, 3114, faults},
	{"a clock that jumps is found out", "sighting.go",
		"if by := later.at - later.read - most; by > slack {",
		"if by := later.at - later.read - most; by > time.Hour {", false, 852, faults},
	{"a process that was started anew may have forgotten", "marker.go",
		"case m.RunID == who.runID:",
		"case true:", false, 85, faults},
	{"only what was durable all along is excused", "marker.go",
		"case m.Durable && who.durable:",
		"case who.durable, m.Durable, true:", false, 85, faults},
	{"a master that forgot is given what the others hold", "quarantine.go",
		"err := e.catchUp(ctx, l, q, left <= 0)",
		"err := error(nil)", false, 1, catchUps(anyKind)},
	{"a catch-up waits until what counted old votes is decided", "quarantine.go",
		"pause(ctx, e.hush())",
		"pause(ctx, 1)", false, 1001, catchUps(decidedLast)},
	{"a source is what it was when it was chosen", "party.go",
		"case proof.nonce != p.nonce:",
		"case false:", false, 45, catchUps(anyKind)},
	{"a master is admitted only under the nonce of its quarantine", "fakekeys_test.go",
		"if string(nonceOf(m.marker())) == args[4] {",
		"if args[4] != \"\" || m.marker() == \"\" {", false, 15, catchUps(anyKind)},
	{"a run that was overtaken gives a master nothing more", "fakecatchup_test.go",
		"if string(nonceOf(m.marker())) != argv[0] {\n\t\t\treturn integer(saysOtherNonce), true\n\t\t}\n" +
			"\t\tif s == leaseScript {\n\t\t\treturn m.lease(argv), true\n\t\t}\n" +
			"\t\tif l, _ := m.key(keys[1]); l.value != argv[1] {",
		"if s == leaseScript {\n\t\t\treturn m.lease(argv), true\n\t\t}\n" +
			"\t\tif l, _ := m.key(keys[1]); l.value == argv[0] {", false, 262, catchUps(copiedLate)},
	{"a lost acquire is undone", "settle.go",
		"e.undo(o, c, now)\n",
		"\n", true, 1, faults},
	{"a grant that comes late is undone", "settle.go",
		"if c.did(i) {\n\t\t\te.lanes[i].undo(o.undoing(i, now), now)",
		"if false {\n\t\t\te.lanes[i].undo(o.undoing(i, now), now)", true, 250, faults},
	{"a predecessor is ended", "gate.go",
		"if predecessor.runID == who.runID && predecessor.clientID != 0 {",
		"if false {", false, 15, sockets},
	{"every decision is bound in time", "op.go",
		"return now.Sub(o.put) > o.patience ||",
		"return", false, 1014, catchUps(decidedLate)},
	{"sources that disagree are read again", "agreement.go",
		"return reading{}, disputed",
		"continue", false, 121, catchUps(anyKind)},
	{"the longest ttl is copied", "agreement.go",
		"return b != saysNoTTL && (a == saysNoTTL || a > b)",
		"return a != saysNoTTL && (b == saysNoTTL || b > a)", false, 23, catchUps(anyKind)},
	{"a catch-up reads N-quorum+1 masters", "agreement.go",
		"n - quorumOf(n) + 1",
		"n - quorumOf(n)", false, 1, catchUps(anyKind)},
	{"a catch-up overwrites what the master holds", "fakecatchup_test.go",
		"if own, ok := m.key(name); ok && m.digest(name) == d && (own.until == 0 || left >= 0 && m.pttl(own) >= left) {",
		"if _, ok := m.key(name); ok {", false, 49, catchUps(anyKind)},
	{"nothing is taken back where copies may have been given since", "fakekeys_test.go",
		"return nonce == \"\" || string",
		"return true || string", false, 1049, catchUps(noticedLate)},
	{"every expiry is padded", "validity.go",
		"return ttl + drift(ttl)",
		"return ttl", false, 78, faults},
	{"an undo goes before what is asked later", "settle.go",
		"e.undo(o, c, now)\n\t\tif",
		"o.keep()\n\t\ttime.AfterFunc(50*time.Millisecond, func() { e.undo(o, c, now) })\n\t\tif", false, 146, constant},
	{"an extension whose lock may have ended while it waited is refused", "collapse.go",
		"if won && o.Kind == Extend {",
		"if false {", false, 3, constant},
	{"what is owed for a lock spares one that ends later", "debt.go",
		"most := max(d.until.Sub(now).Milliseconds(), 0)",
		"most := int64(1e12)", false, 29, constant},
}

// TestEachRuleIsNeeded takes the rules out one by one: each time the simulation
// must find a promise broken, or it proves nothing about the rule.
func TestEachRuleIsNeeded(t *testing.T) {
	if !*withoutRules {
		t.Skip("run with -rules: it builds the package once for each rule")
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			found := r.without(t)
			if found == "" {
				t.Error("the simulation has found nothing")
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
	changed := filepath.Join(dir, r.file)
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), r.old, r.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, _ := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"test", "-vet=off", "-timeout", "30m", "-overlay", list, "-run", r.schedules.simulation,
		"-seed", fmt.Sprint(max(uint64(r.seed), *seedFlag))}
	args = append(args, r.schedules.flags...)
	if !r.leaves {
		args = append(args, "-holders")
	}
	// A seed does not always find what it has found once.
	out, err := exec.Command("go", append(args, "-schedules", "3", "-count", "20", "-failfast", ".")...).CombinedOutput()
	if err == nil {
		out, err = exec.Command("go", append(args, "-schedules", fmt.Sprint(r.schedules.most), ".")...).CombinedOutput()
	}
	if err == nil {
		return ""
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if i := strings.Index(line, "seed "); i >= 0 {
			return line[i:]
		}
	}
	t.Fatalf("it was not simulated: %v\n%s", err, out)
	return ""
}
