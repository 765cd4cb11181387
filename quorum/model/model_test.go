package model

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	check  = flag.Bool("model", false, "have spin check the model (needs spin and a C compiler)")
	large  = flag.Bool("large", false, "with -model: check the larger worlds, too")
	update = flag.Bool("update", false, "with -model: write the counter-examples in testdata anew")
)

func TestAllRulesTogetherKeepTheInvariants(t *testing.T) {
	if !asked(t) {
		return
	}
	for _, w := range worlds {
		if w.large && !*large {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			f := walk(t, w.file, strings.Fields(w.defines), false)
			t.Logf("%s states, %v", f.states, f.took.Round(100*time.Millisecond))
			if len(f.steps) > 0 {
				t.Errorf("this execution breaks an invariant:\n%s", f.transcript())
			}
		})
	}
}

// A model that cannot fail shows nothing.
func TestEachRuleIsNeeded(t *testing.T) {
	if !asked(t) {
		return
	}
	for _, a := range absences {
		t.Run(a.rule, func(t *testing.T) {
			t.Parallel()
			f := walk(t, a.file, append(strings.Fields(a.defines), a.rule), true)
			t.Logf("%s states, %v", f.states, f.took.Round(100*time.Millisecond))
			if len(f.steps) == 0 {
				t.Fatal("no execution breaks an invariant without this rule")
			}
			file := filepath.Join("testdata", a.rule+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(f.transcript()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.transcript(); got != string(want) {
				t.Errorf("%s is out of date (cure: -update); the execution is now:\n%s", file, got)
			}
		})
	}
}

// asked tells whether spin is to be run: that is a step of its own in the test
// command, since a machine that only builds the proxy has no spin.
func asked(t *testing.T) bool {
	t.Helper()
	if !*check {
		t.Log("spin is run only with -model")
		return false
	}
	for _, program := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is missing: apt-get install spin gcc libc6-dev", program)
		}
	}
	return true
}

// finding is what a walk over all executions came to.
type finding struct {
	states string
	took   time.Duration
	steps  []string // of an execution that breaks an invariant
	broken string   // the assertion
}

func (f finding) transcript() string {
	var b strings.Builder
	for i, s := range f.steps {
		fmt.Fprintf(&b, "%2d  %s\n", i+1, s)
	}
	fmt.Fprintf(&b, "broken: %s\n", f.broken)
	return b.String()
}

// walk has spin visit every state of a model. Breadth first, the first execution
// found is a shortest one.
func walk(t *testing.T, file string, defines []string, shortest bool) finding {
	t.Helper()
	model, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var args []string
	for _, d := range defines {
		args = append(args, "-D"+d)
	}
	run(t, dir, "spin", append(append([]string{"-a"}, args...), model)...)
	compile := []string{"-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8000", "-o", "pan", "pan.c"}
	if shortest {
		compile = append(compile, "-DBFS", "-O1")
	} else {
		compile = append(compile, "-O2")
	}
	if file != "lock.pml" {
		compile = append(compile, "-O0") // its walk is shorter than what a compiler takes to better it
	}
	run(t, dir, "cc", compile...)
	began := time.Now()
	out := run(t, dir, "./pan", "-n", "-m1000000", "-w22")
	f := finding{took: time.Since(began), states: match(t, `([0-9.e+]+) states, stored`, out)}
	for _, bad := range []string{"out of memory", "max search depth too small", "Search not completed"} {
		if bytes.Contains(out, []byte(bad)) && match(t, `errors: (\d+)`, out) == "0" {
			t.Fatalf("pan: %s\n%s", bad, out)
		}
	}
	if match(t, `errors: (\d+)`, out) == "0" {
		return f
	}
	f.broken = match(t, `(assertion violated.*?) \(at depth`, out)
	trail := filepath.Join(dir, filepath.Base(file)+".trail")
	replay := run(t, dir, "spin", append(append([]string{"-t", "-T", "-k", trail}, args...), model)...)
	for line := range strings.Lines(string(replay)) {
		if strings.HasPrefix(line, "spin: text of failed assertion") {
			continue
		}
		if strings.HasPrefix(line, "spin: trail ends") {
			break
		}
		if strings.HasPrefix(line, "spin: ") {
			continue
		}
		f.steps = append(f.steps, strings.TrimSpace(line))
	}
	return f
}

func match(t *testing.T, pattern string, out []byte) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no %s in\n%s", pattern, out)
	}
	return string(m[1])
}

// run ends a program that takes too long, with its output so far.
func run(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	limit := time.Hour
	if *large {
		limit = 2 * time.Hour
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && !(name == "spin" && bytes.Contains(out, []byte("assertion violated"))) {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}
