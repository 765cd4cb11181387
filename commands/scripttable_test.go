package commands

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestOldestScriptsGoFirst(t *testing.T) {
	table := newScriptTable(3, 1000)
	var shas []string
	for i := range 5 {
		shas = append(shas, table.enter(fmt.Sprintf("return %d", i)).sha)
		table.enter("return 2")
	}
	for i, there := range []bool{false, false, true, true, true} {
		if (table.find(shas[i]) != nil) != there {
			t.Errorf("script %d: there is %t, want %t", i, !there, there)
		}
	}
}

func TestScriptsAreBoundedInBytes(t *testing.T) {
	table := newScriptTable(100, 100)
	first := table.enter(strings.Repeat("a", 60)).sha
	second := table.enter(strings.Repeat("b", 40)).sha
	if table.find(first) == nil || table.find(second) == nil || table.bytes != 100 {
		t.Fatalf("%d bytes of two scripts that fit", table.bytes)
	}
	third := table.enter(strings.Repeat("c", 1)).sha
	if table.find(first) != nil || table.find(second) == nil || table.find(third) == nil || table.bytes != 41 {
		t.Errorf("%d bytes once the first had to go", table.bytes)
	}
	if table.enter(strings.Repeat("d", 101)) != nil || table.find(second) == nil {
		t.Error("a script that does not fit alone was entered")
	}
	d := NewDialect(Options{})
	d.scripts = table
	for _, args := range [][]string{{"SCRIPT", "LOAD", strings.Repeat("d", 101)}, {"EVAL", strings.Repeat("d", 101), "0"}} {
		if a := d.Session(1).Do(args); a.Reply.Str != "ERR the script is longer than 100 bytes" {
			t.Errorf("%s: %+v", args[0], a.Reply)
		}
	}
}

func TestLoadedScriptsAreKnownToAllSessions(t *testing.T) {
	d := NewDialect(Options{})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			s := d.Session(int64(i))
			for n := range 100 {
				text := fmt.Sprintf("return %d", n)
				sha := s.Do([]string{"SCRIPT", "LOAD", text}).Reply.Str
				if a := s.Do([]string{"EVALSHA", sha, "0"}); a.Reply.Str != fmt.Sprintf(errScriptUnknown, sha) {
					t.Errorf("%q", a.Reply.Str)
				}
			}
		})
	}
	wait.Wait()
	if len(d.scripts.order) != 100 || len(d.scripts.bySHA) != 100 || len(d.scripts.byText) != 100 {
		t.Errorf("%d scripts", len(d.scripts.order))
	}
}

func TestRefusalOfAScriptDoesNotReadAsAnotherError(t *testing.T) {
	for _, words := range []string{"unknown command", "syntax error", "CLUSTER", "NOSCRIPT"} {
		if strings.Contains(errScriptUnknown, words) {
			t.Errorf("drivers act on %q", words)
		}
	}
}
